import { createOrder, ordersSince } from '../../../lib/orders.js';

export async function POST(request) {
  const { item } = await request.json();
  if (typeof item !== 'string') {
    return Response.json({ error: 'item must be a string' }, { status: 400 });
  }
  return Response.json(await createOrder(item), { status: 201 });
}

export async function GET(request) {
  const since = new Date(request.nextUrl.searchParams.get('since'));
  return Response.json(await ordersSince(since));
}
