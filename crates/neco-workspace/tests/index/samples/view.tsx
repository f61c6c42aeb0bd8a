import React from 'react';
import { Shop, type Order } from './shop';

interface Props { order: Order; onClose(): void }

export const OrderView: React.FC<Props> = ({ order, onClose }) => {
  return <Card title="Order"><Shop order={order} onClick={() => onClose()} /></Card>;
};

export default function TotalPrice(props: Props) {
  return <OrderView {...props} />;
}
