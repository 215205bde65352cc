import { canonicalMessage } from '../../../agent/context/canonical.ts';
import { type Message, withInstructions } from '../../../agent/context/message.ts';
import type { ReadyAgent } from '../../../agent/definition/registry.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { readPolicy } from '../../../agent/policy/read-policy.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { CallRecord } from '../../../database/store/context/read-call.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import { projectContext } from './project.ts';
import type { ReplayCallOptions } from './types.ts';

/** A recorded call that is sent again. */
interface Repeated {
  threadId: string;
  call: CallRecord;
  agent: ReadyAgent;
  /** As they were sent. */
  messages: Message[];
  model: string;
}

/** The messages of a call, changed as the options say. */
export async function replayedMessages(
  deps: { db: Database; counting: Counting },
  { threadId, call, agent, messages, model }: Repeated,
  { systemPrompt, contextPolicy: policy }: ReplayCallOptions,
): Promise<Message[]> {
  const cut = policy === undefined ? messages : await cutBy(deps, threadId, call, agent, { policy, model });
  return withSystemPrompt(cut, systemPrompt);
}

/** The context of the lane before the call, cut by another policy. */
async function cutBy(
  { db, counting }: { db: Database; counting: Counting },
  threadId: string,
  { context_ref: contextRef, seq, refs }: CallRecord,
  { output, descriptors: tools, settings }: ReadyAgent,
  { policy, model }: { policy: PolicyOption; model: string },
): Promise<Message[]> {
  if ('history' in refs) {
    throw new LanefoldError(
      'invalid_input',
      'A question of a strategy has no context policy: the strategy chose its messages.',
      {
        hint: 'Replay it without contextPolicy. Nothing was sent.',
      },
    );
  }
  const rows = await readContext(db, threadId, contextRef, seq - 1);
  const projection = await projectContext(
    counting,
    rows,
    {
      policy: readPolicy(policy),
      model,
      tools,
      at: new Date(db.settings.clock.now()),
      instructions: output?.instructions,
      maxOutputTokens: settings.max_output_tokens,
    },
    { full: true },
  );
  const messages = projection.messages.map(canonicalMessage);
  const [first, ...rest] = messages;
  return first && output ? [...withInstructions(first, output.instructions), ...rest] : messages;
}

function withSystemPrompt(messages: Message[], systemPrompt: string | null | undefined): Message[] {
  if (systemPrompt === undefined) return messages;
  const rest = messages.filter(({ role }, index) => index > 0 || role !== 'system');
  return systemPrompt === null ? rest : [{ role: 'system', content: systemPrompt }, ...rest];
}
