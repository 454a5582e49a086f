import { nextId } from './ids.js';

export const dynamic = 'force-dynamic';

export default async function Page() {
  return <p>{`id=${await nextId()}`}</p>;
}
