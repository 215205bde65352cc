import type { Random } from '../../../src/ops/chaos/schedule.ts';
import { isLanefoldError } from '../../../src/base/errors.ts';
import type { Library } from '../../../src/features/library/library.ts';
import { isTransient } from '../../../src/database/postgres/errors.ts';
import type { Database } from '../../../src/database/postgres/pool.ts';
import type { RunHandle } from '../../../src/database/store/run/run.ts';
import { queueOf } from '../processes/queue.ts';
import { Actor } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { agentsOf } from './agents.ts';
import { openProcess } from './process.ts';
import { callsOf, rooms, type Asking } from './rooms.ts';

/** A client of the library, which asks for one thing after the other in all rooms. */
export class RoomClient implements Asking {
  readonly #actor: Actor;
  readonly runs: RunHandle[] = [];
  library!: Omit<Library, 'work'>;

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    this.#actor = new Actor(world, name);
    world.clock.in(1, this.#actor, () => void this.#live());
  }

  get db(): Database {
    return this.#actor.db;
  }

  async #live(): Promise<void> {
    const { chances } = this.world;
    const queue = queueOf(this.#actor);
    this.library = openProcess(this.#actor, queue, agentsOf('all'), (error) => this.#refused(error)).library;
    const calls = callsOf(chances);
    for (let i = 0; ; i++) {
      const name = `${this.name}:${i}`;
      const random = chances.of(name);
      await this.#actor.sleep(random.int(20, 900));
      if (chances.calm) return this.#calm();
      const call = random.pick(calls);
      const thread = `t${Math.floor(i / 20) + random.int(0, 2)}`;
      if (!chances.happens(name, `${call.name} ${thread}`)) continue;
      const asked = call.ask(this, { name: name.replace(':', '-'), thread, random });
      await this.#patiently(asked).catch((error: unknown) => this.#refused(error));
    }
  }

  async #calm(): Promise<void> {
    if (this.name !== 'ann') return;
    for (const room of rooms) await room.calm?.(this).catch((error: unknown) => this.#refused(error));
  }

  /** Something that takes very long is given up. */
  #patiently(asked: Promise<unknown>): Promise<unknown> {
    return Promise.race([asked, this.#actor.sleep(15_000)]);
  }

  /** Sends again what may have been lost. */
  async twice<T>(random: Random, send: () => Promise<T>): Promise<T> {
    const repeats = random.chance(0.7);
    return send().catch((error: unknown) => {
      if (repeats && isTransient(error)) return send();
      throw error;
    });
  }

  /** A refusal, or a lost answer: the history knows. */
  #refused(error: unknown): void {
    if (!isLanefoldError(error) && !isTransient(error))
      this.world.report('unexpected-errors', `${this.name}: ${(error as Error).stack ?? String(error)}`);
  }
}
