package example.shop;

import example.money.Price;

/** A shop. */
@Component
public class Shop<T> extends Base implements Priced {
    private static final int MAX_ITEMS = 10;
    private final Map<Integer, Order> orders = new HashMap<>();

    public Shop(Map<Integer, Order> orders) {
        this.orders.putAll(orders);
    }

    @Override
    public Price totalPrice() {
        return orders.values().stream().map(Order::totalPrice).reduce(Price.ZERO, Price::add);
    }

    boolean addItem(int order, Price price) {
        return orders.get(order).prices().size() < MAX_ITEMS;
    }

    enum State { OPEN, CLOSED }
}

interface Priced {
    int DIGITS = 2;
    Price totalPrice();
}

record Order(List<Price> prices) {
    Price totalPrice() { return new Shop<>(null).totalPrice(); }
}
