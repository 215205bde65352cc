import type { Client } from '../client/client.ts';
import type { RunRef } from '../client/operations.ts';
import { WeakValues } from '../common/weak-values.ts';
import { InboxStore } from './inbox-store.ts';
import { RunStore } from './run-store.ts';
import { ThreadStore } from './thread-store.ts';

/** Components that show the same thread share one stream: browsers allow few connections to a server. */
const stores = new WeakMap<Client, WeakValues<string, object>>();

function shared<STORE extends object>(client: Client, key: string, create: () => STORE): STORE {
  let own = stores.get(client);
  if (!own) stores.set(client, (own = new WeakValues()));
  return (own.get(key) as STORE | undefined) ?? (own.set(key, create()) as STORE);
}

export const threadStore = (client: Client, threadId: string): ThreadStore =>
  shared(client, `thread ${threadId}`, () => new ThreadStore(client, threadId));

export const runStore = (client: Client, { threadId, id }: RunRef): RunStore =>
  shared(client, `run ${threadId} ${id}`, () => new RunStore(client, { threadId, id }));

export const inboxStore = (client: Client, pollMs: number): InboxStore =>
  shared(client, `inbox ${pollMs}`, () => new InboxStore(client, pollMs));
