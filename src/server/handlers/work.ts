import { omitUndefined } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';
import type { Handler } from '../declared/routes.ts';

/** Works for one request at a time: two workers of a process would share its connections. */
export function workHandler({ work }: Pick<Library, 'work'>): Handler {
  let working = false;
  return async ({ options }) => {
    const { maxSeconds, concurrency } = options as { maxSeconds?: number; concurrency?: number };
    if (working) throw alreadyWorking();
    working = true;
    try {
      const maxMs = maxSeconds === undefined ? undefined : maxSeconds * 1_000;
      return await work(omitUndefined({ maxMs, concurrency }));
    } finally {
      working = false;
    }
  };
}

const alreadyWorking = () =>
  new LanefoldError('server_busy', 'This server already works for an earlier request.', {
    hint: 'Nothing was lost: the earlier request does what is due. Ask again later.',
  });
