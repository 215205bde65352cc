import { object } from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { randomUUID } from 'node:crypto';
import { journaled, openWith } from './restate.js';
import { asked, question } from './workload.js';

/** A virtual object per conversation: it keeps the messages in its state and executes one run at a time. */
export function open(options) {
  const conversation = object({
    name: 'conversation',
    handlers: {
      async run(ctx, input) {
        const messages = [...((await ctx.get('messages')) ?? []), ...asked(input)];
        const result = await journaled(ctx, messages);
        ctx.set('messages', messages);
        return result;
      },
    },
  });
  const ingress = connect({ url: options.server.ingress });
  return openWith(options, conversation, () => ingress.objectClient(conversation, randomUUID()).run(question));
}
