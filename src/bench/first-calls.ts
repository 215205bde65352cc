import type { LanguageModelV4 } from '@ai-sdk/provider';
import { Durations } from './durations.ts';
import { instantModel, text400 } from './workload.ts';

/** Measures how long runs wait for their first model call. Each question begins with a number, which names its run. */
export class FirstCalls {
  readonly waits = new Durations();
  readonly model: LanguageModelV4;
  readonly #requestedAt = new Map<string, number>();
  #asked = 0;

  constructor() {
    const instant = instantModel(1);
    this.model = {
      ...instant,
      doStream: (options) => {
        const last = options.prompt.at(-1)!;
        if (last.role === 'user') this.#called(last.content[0]);
        return instant.doStream(options);
      },
    };
  }

  /** The question of a run that is requested now. */
  ask(): string {
    const no = `${this.#asked++}`;
    this.#requestedAt.set(no, performance.now());
    return `${no} ${text400}`.slice(0, text400.length);
  }

  #called(part: { type: string; text?: string } | undefined): void {
    const no = part!.text!.split(' ', 1)[0]!;
    const requestedAt = this.#requestedAt.get(no);
    // a run that was claimed again calls again
    if (requestedAt === undefined) return;
    this.#requestedAt.delete(no);
    this.waits.add(performance.now() - requestedAt);
  }
}
