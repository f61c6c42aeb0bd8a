/* A shop. */
#include "money.h"

#define MAX_ITEMS 10
#define SQUARE(x) ((x) * (x))

typedef struct order Order;

struct order {
    int number;
    price_t *prices;
    char name[20];
};

enum state { OPEN, CLOSED = 2 };

union value { int whole; double real; };

static int opened = 1;
extern price_t round_up(price_t price);

price_t total_price(const Order *order)
{
    return round_up(order->prices[0]) + SQUARE(2);
}

Order *add_item(Order *order, price_t price)
{
    if (order->number < MAX_ITEMS)
        log_price(total_price(order));
    return order;
}
