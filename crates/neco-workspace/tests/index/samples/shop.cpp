// A shop.
#include "shop.h"

namespace shop {

constexpr int MAX_ITEMS = 10;
using Orders = std::map<int, Order>;

template <typename T>
concept Priced = requires(T t) { t.totalPrice(); };

class Order : public Base {
public:
    explicit Order(int number) : number_(number) {}
    Price totalPrice() const;
    const std::string& name() const { return name_; }
    virtual void close() = 0;

private:
    int number_;
    std::string name_;
};

Price Order::totalPrice() const {
    return std::accumulate(prices.begin(), prices.end(), Price{}, roundUp);
}

enum class State { Open, Closed };

struct Shop {
    Orders orders;
    template <typename T> void addItem(T item) { orders[1].add(std::move(item)); }
};

Shop& instance() {
    static Shop shop;
    return shop;
}

}  // namespace shop

int main() {
    shop::Order order{1};
    shop::instance().addItem<int>(shop::MAX_ITEMS);
    return order.totalPrice().cents();
}
