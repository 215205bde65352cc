import path from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { LanefoldError } from '../../base/errors.ts';
import { packageRoot } from '../../base/common/package-root.ts';
import type { JSONSchema7 } from '@ai-sdk/provider';
import { after } from '../../base/common/timer.ts';

/** A schema and a value, as JSON; without a value, the schema is only read. */
export interface Question {
  schema: string;
  value?: string;
}

/** `message` is set if the schema cannot be read or the value is not JSON. */
export type Answer =
  | { ok: true; value?: string }
  | { ok: false; issues?: { path: (string | number)[]; message: string }[]; message?: string };

/** How long the thread may work on one question, in ms: a thousand times what an ordinary one takes. */
export const validationLimitMs = 1_000;

const startLimitMs = 15_000;
const memoryMb = 128;

/**
 * Validates values against schemas in a thread, which is terminated if that takes too much time or memory: no pattern
 * and no combination of `$ref`s can block this process. The first question starts the thread; it then answers questions
 * one at a time, and does not keep the process alive.
 */
class Validator {
  #thread: Promise<Worker> | undefined;
  readonly #inTurn = pLimit(1);

  /** @throws LanefoldError `validation_timeout` */
  ask(question: Question): Promise<Answer> {
    return this.#inTurn(async () => {
      const thread = await (this.#thread ??= this.#start());
      thread.ref();
      try {
        return await replyOf<Answer>(thread, validationLimitMs, () => thread.postMessage(question));
      } catch (error) {
        this.#thread = undefined;
        await thread.terminate();
        throw tooSlow(error);
      } finally {
        thread.unref();
      }
    });
  }

  async #start(): Promise<Worker> {
    const thread = new Worker(path.join(packageRoot, 'src/agent/contracts/validator-thread.js'), {
      // the options of this process, such as a TypeScript loader, are not for the thread
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: 4 },
    });
    try {
      await replyOf(thread, startLimitMs);
      // the thread may exit between two questions
      thread.once('exit', () => (this.#thread = undefined)).on('error', () => {});
      return thread;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
  }
}

/** The next message of a thread. Rejects if the thread exits or stays silent for `limitMs`. */
function replyOf<Reply>(thread: Worker, limitMs: number, ask?: () => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      timer.cancel();
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    const onMessage = (reply: Reply) => {
      settle();
      resolve(reply);
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    const onExit = () => onError(new Error('The validation thread exited.'));
    const timer = after(limitMs, () => onError(new Error(`It took longer than ${limitMs} ms.`)));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    ask?.();
  });
}

const tooSlow = (cause: unknown) =>
  new LanefoldError('validation_timeout', 'Validating against the output schema takes too much time or memory.', {
    hint: 'Simplify the schema, especially its patterns and nested references.',
    cause,
  });

export const validator = new Validator();

/**
 * Unwraps `object` from the result of a call that generates one, such as the `generateObject` of the AI SDK. Returns
 * any other value unchanged, also if the schema itself has a property `object`.
 */
export function unwrapObject(value: unknown, schema: JSONSchema7): unknown {
  if (typeof value !== 'object' || value === null || !('object' in value)) return value;
  if (Object.hasOwn(schema.properties ?? {}, 'object')) return value;
  const { object } = value;
  return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : value;
}
