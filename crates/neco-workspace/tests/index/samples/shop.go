// Package shop is a shop.
package shop

import "example.com/money"

const MAX_ITEMS = 10

var (
	open   = true
	orders map[int]*Order
)

type Order struct {
	Prices []money.Price
	number int
}

type Shop interface {
	TotalPrice() money.Price
	AddItem(order int, price money.Price) bool
}

type Orders map[int]*Order

type Alias = Orders

func (o *Order) TotalPrice() money.Price {
	total := money.Zero
	for _, price := range o.Prices {
		total = total.Add(roundUp(price))
	}
	return total
}

func (s Shelf[T]) AddItem(order int, price money.Price) bool {
	return len(orders[order].Prices) < MAX_ITEMS && orders[order].TotalPrice() != price
}

func roundUp(price money.Price) money.Price { return price }
