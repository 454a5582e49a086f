import { revalidatePath } from 'next/cache';
import { createOrder, ordersSince } from '../lib/orders.js';

export const dynamic = 'force-dynamic';

async function submit(form) {
  'use server';
  await createOrder(form.get('item'));
  revalidatePath('/');
}

export default async function Page() {
  const orders = await ordersSince(Date.now() - 24 * 60 * 60 * 1000);
  return (
    <main>
      <h1>Orders of the last day</h1>
      <form action={submit}>
        <input name="item" aria-label="Item" required />
        <button type="submit">Order</button>
      </form>
      <ul>
        {orders.map(({ id, item, createdAt }) => (
          <li key={id}>
            {id}: {item}, {createdAt.toISOString()}
          </li>
        ))}
      </ul>
    </main>
  );
}
