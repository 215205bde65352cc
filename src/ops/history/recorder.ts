import type { HistoryEvent, Calls, OperationName } from './event.ts';

/** How an operation ended: exactly one of these is called, once. */
export interface Recording<Name extends OperationName> {
  ok(answer: Calls[Name]['answer']): void;
  /** It did nothing. */
  fail(error: string): void;
  /** Its answer was lost: it may have happened, or may still. */
  info(error: string): void;
}

/**
 * Records operations as they happen. An operation gets a process that has nothing else to do; one whose answer was lost
 * keeps its process for ever, because the operation may still happen.
 */
export class Recorder {
  #index = 0;
  #processes = 0;
  #stopped = false;
  readonly #idle: string[] = [];

  /**
   * @param name prefix of the processes, different for each recorder of a history
   * @param write called with each event before the operation continues
   * @param clock nanoseconds; default: the monotonic clock, which all processes of a machine share
   */
  constructor(
    private readonly name: string,
    private readonly write: (event: HistoryEvent) => void,
    private readonly clock: () => number = () => Number(process.hrtime.bigint()),
  ) {}

  invoke<Name extends OperationName>(f: Name, thread_id: string, call: Calls[Name]['call']): Recording<Name> {
    const process = this.#idle.pop() ?? `${this.name}.${this.#processes++}`;
    const put = (event: Pick<HistoryEvent, 'type' | 'value' | 'error'>) => {
      if (!this.#stopped) this.write({ index: this.#index++, time: this.clock(), process, f, thread_id, ...event });
    };
    let ended = false;
    const end = (event: Pick<HistoryEvent, 'type' | 'value' | 'error'>) => {
      if (ended) throw new Error(`The operation ${f} of process ${process} has ended already.`);
      ended = true;
      put(event);
      if (event.type !== 'info') this.#idle.push(process);
    };
    put({ type: 'invoke', value: call });
    return {
      ok: (answer) => end({ type: 'ok', value: answer }),
      fail: (error) => end({ type: 'fail', error }),
      info: (error) => end({ type: 'info', error }),
    };
  }

  /** Records nothing more; operations without an answer stay open. */
  stop(): void {
    this.#stopped = true;
  }
}
