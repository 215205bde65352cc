import type { DeliveryJob, DeliveryQueue } from '../../../src/queue/delivery-queue.ts';
import type { Actor } from './network.ts';
import type { World } from './world.ts';

/** How soon the job of a process that died is given to another, in ms. */
const lockMs = 5_000;
const atOnce = 20;

interface Sender {
  actor: Actor;
  life: number;
  active: number;
  deliver(job: DeliveryJob): Promise<void>;
}

/** The queue of the attempts to deliver webhooks, as BullMQ behaves: it may lose jobs, and gives those of the dead again. */
export class Deliveries {
  readonly #jobs = new Map<string, { job: DeliveryJob; by: Sender | undefined }>();
  readonly #senders = new Set<Sender>();

  constructor(private readonly world: World) {
    const check = (): void => void world.clock.in(lockMs, undefined, () => (this.#give(), check()));
    check();
  }

  /** As a process of the product opens it. */
  open(actor: Actor): DeliveryQueue {
    let own: Sender | undefined;
    return {
      add: async (jobs) => {
        for (const job of jobs) this.#add(job);
        this.#give();
      },
      work: async (deliver) => {
        own = { actor, life: actor.life, active: 0, deliver };
        this.#senders.add(own);
        this.#give();
      },
      close: async () => {
        if (!own) return;
        this.#senders.delete(own);
        while (own.active > 0) await actor.sleep(20);
      },
    };
  }

  #add(job: DeliveryJob): void {
    const name = `${job.id}.${job.attempt}`;
    if (this.#jobs.has(name) || this.world.chances.fault(`deliver ${name}`, { 'delivery lost': 0.02 })) return;
    this.#jobs.set(name, { job, by: undefined });
  }

  #give(): void {
    const { clock, chances } = this.world;
    for (const sender of this.#senders) if (sender.life !== sender.actor.life) this.#senders.delete(sender);
    for (const [name, held] of this.#jobs) {
      if (held.by && held.by.life === held.by.actor.life) continue;
      const free = [...this.#senders].filter(({ active }) => active < atOnce);
      if (free.length === 0) return;
      const sender = chances.of(`send ${name} ${clock.now}`).pick(free);
      held.by = sender;
      sender.active++;
      const act = async () => {
        await sender.deliver(held.job);
        this.#jobs.delete(name);
        sender.active--;
        this.#give();
      };
      clock.in(2, sender.actor, () => void act(), sender.life);
    }
  }
}
