import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { startPostgres } from './postgres.ts';
import { simulateBounded } from './bounded/simulate-bounded.ts';
import { simulateRooms } from './rooms/simulate-rooms.ts';
import { simulate } from './simulate.ts';
import { SqlStore } from './sql-store.ts';
import type { Simulated, Simulation } from './world/play.ts';

/**
 * Where simulations are executed: `sql` compares the functions of a database with the model, `rooms` has all rooms, `bounded` all
 * rooms and workers for a bounded time.
 */
export const places = ['model', 'sql', 'rooms', 'bounded'];

/** Simulates on a new store each time. */
export interface Stores {
  simulate(simulation: Simulation): Promise<Simulated>;
  close(): Promise<void>;
}

export async function openStores(on: string): Promise<Stores> {
  if (on === 'model') return { simulate: (simulation) => simulate(new Model(), simulation), close: async () => {} };
  const server = await startPostgres();
  return {
    async simulate(simulation) {
      const db = await server.open();
      if (on === 'rooms') return simulateRooms(await SqlStore.openForRooms(db), simulation);
      if (on === 'bounded') return simulateBounded(await SqlStore.openForRooms(db), simulation);
      return simulate(new ComparedStore(await SqlStore.open(db), new Model()), simulation);
    },
    close: () => server.stop(),
  };
}
