import { service } from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { journaled, openWith } from './restate.js';
import { asked, question } from './workload.js';

/** A handler of a service: durable steps, no conversation. */
export function open(options) {
  const agent = service({ name: 'agent', handlers: { run: (ctx, input) => journaled(ctx, asked(input)) } });
  const client = connect({ url: options.server.ingress }).serviceClient(agent);
  return openWith(options, agent, () => client.run(question));
}
