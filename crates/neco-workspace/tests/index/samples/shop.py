"""A shop."""
from dataclasses import dataclass
from money import Price, round_up as up

MAX_ITEMS = 10


@dataclass
class Order(Base):
    number: int = 0
    prices = []

    def total_price(self) -> Price:
        return sum(up(price) for price in self.prices)


class Shop:
    def __init__(self, orders: dict[int, Order]):
        self.orders = orders

    @property
    def size(self):
        return len(self.orders)

    async def add_item(self, order, price):
        def inner():
            return MAX_ITEMS
        if len(order.prices) < inner():
            order.prices.append(price)
            log(order.total_price())


def main():
    shop = Shop({1: Order()})
    shop.add_item(1, Price(2))
