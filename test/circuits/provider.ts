import { APICallError } from '@ai-sdk/provider';
import { fakeModel } from '../support/fake-model.ts';

/** A provider that can be down, and counts the calls it gets, and those at the same time. */
export function provider() {
  const state = {
    down: false,
    calls: 0,
    callsWhileDown: 0,
    atOnce: 0,
    mostAtOnce: 0,
    status: 529 as number,
    headers: {} as Record<string, string>,
  };
  const model = fakeModel(async () => {
    state.calls += 1;
    state.atOnce += 1;
    state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    state.atOnce -= 1;
    if (!state.down) return { text: 'Done.' };
    state.callsWhileDown += 1;
    throw new APICallError({
      message: 'Overloaded.',
      url: 'x',
      requestBodyValues: {},
      statusCode: state.status,
      responseHeaders: state.headers,
    });
  });
  return { state, model };
}
