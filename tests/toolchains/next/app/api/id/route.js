import { nextId } from '../../ids.js';

export const dynamic = 'force-dynamic';

export async function GET() {
  return Response.json({ id: `${await nextId()}` });
}
