// A shop.
import { Price, roundUp as up } from './money';

export const MAX_ITEMS = 10;

export interface Priced {
  readonly currency: string;
  totalPrice(): Price;
}

export type Orders = Map<number, Order>;

export enum Order { Open, Closed = 2 }

declare function log(text: string): void;

namespace inner {
  export function addItem(order: Order, price: Price): void {
    log(`${order}`);
  }
}

export abstract class Shop<T extends Priced> extends Base implements Priced {
  private orders: Orders = new Map();
  currency = 'EUR';

  abstract close(): void;

  get size(): number { return this.orders.size; }

  totalPrice(): Price {
    const each = (order: Order): Price => up(order);
    return [...this.orders.values()].map(each).reduce((a, b) => a, new Price(MAX_ITEMS));
  }
}

inner.addItem(Order.Open, up(1) as Price);
