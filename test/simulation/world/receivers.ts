import http from 'node:http';
import type { Actor } from './network.ts';
import { acting } from './virtual-time.ts';

const real = http.request;
let installed = false;

type Answer = (response: unknown) => void;

/** Requests of simulated processes go to simulated receivers, which mostly answer. Others are real. */
export function installReceivers(): void {
  if (installed) return;
  installed = true;
  http.request = ((url: URL, options: http.RequestOptions, answer: Answer) => {
    const actor = acting() as Actor | undefined;
    return actor?.world ? new Sent(actor, url, options, answer) : real(url, options, answer as never);
  }) as typeof http.request;
}

class Sent {
  #failed: (error: Error) => void = () => {};

  destroy(): void {}

  constructor(
    private readonly actor: Actor,
    private readonly url: URL,
    private readonly options: http.RequestOptions,
    private readonly answer: Answer,
  ) {}

  on(_: 'error', failed: (error: Error) => void): this {
    this.#failed = failed;
    return this;
  }

  end(): void {
    const { actor, url } = this;
    const { world } = actor;
    const id = (this.options.headers as Record<string, string>)['webhook-id']!;
    const no = (world.received.get(id)?.asked ?? 0) + 1;
    const received = { asked: no, accepted: world.received.get(id)?.accepted ?? 0 };
    world.received.set(id, received);
    const name = `receiver ${url.pathname} ${id} ${no}`;
    const random = world.chances.of(name);
    const fault = world.chances.fault(name, {
      'receiver fails': 0.05,
      'receiver hangs': 0.02,
      'receiver resets': 0.03,
    });
    if (fault === 'receiver hangs') return;
    world.clock.in(random.int(5, 400), actor, () => {
      // the receiver has it, also if its answer is lost
      if (fault !== 'receiver fails') received.accepted++;
      if (fault === 'receiver resets')
        return this.#failed(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
      const body = async function* () {};
      const statusCode = fault ? 503 : 200;
      this.answer({ statusCode, headers: {}, destroy: () => {}, [Symbol.asyncIterator]: body });
    });
  }
}
