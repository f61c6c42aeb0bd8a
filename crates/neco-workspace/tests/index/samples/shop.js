// A shop.
import { Price, roundUp } from './money.js';

const MAX_ITEMS = 10;
export const open = () => true;

export class Order extends Base {
  #secret = 1;
  prices = [];

  constructor(prices) {
    super();
    this.prices = prices;
  }

  totalPrice() {
    return this.prices.map(roundUp).reduce((a, b) => a + b, 0);
  }
}

function addItem(order, price) {
  if (order.prices.length < MAX_ITEMS) order.prices.push(new Price(price));
  return order.totalPrice();
}

function* all(orders) {
  yield* orders;
}

const Shop = {
  find: function (number) { return addItem(new Order([]), number); },
  close() { return open(); },
};

module.exports.later = async () => Shop.find(1);
const view = <Card order={order}><Shop.Item /></Card>;
