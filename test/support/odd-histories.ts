import fc from 'fast-check';
import type { Json, Message, ToolCall } from '../../src/agent/context/message.ts';

const blank = fc.constantFrom('', ' ', ' \n\u3000', '\u0085', '\ufeff');
const words = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('Yes.', ' Ä 😀 ', 'x'.repeat(300)) },
  { weight: 1, arbitrary: blank },
);
const parts = fc.array(
  fc.oneof(
    words.map((text) => ({ type: 'text', text })),
    fc.constant({ type: 'file', media_type: 'image/png', data: 'QUJD' }),
  ),
  { maxLength: 3 },
);
/** Ids that providers give, models invent, and histories of other providers have. Few, so that they come again. */
export const oddIds = [
  '',
  'call_1',
  'toolu_1',
  'functions.look:0',
  'call_abc|fc_0123',
  'a'.repeat(60),
  'id with spaces',
  'Ünï😀',
  '123456789',
];
/** Names that models invent, beside those of tools. */
export const oddNames = [
  'look',
  'functions.run',
  'multi tool use',
  'n'.repeat(90),
  'n'.repeat(250),
  '<tool>look</tool>',
  '',
  '7zip',
  '-x',
  'größe😀',
];

const signed: Json[] = [
  { anthropic: { signature: 's' } },
  { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } },
  { google: { thoughtSignature: 's' } },
];

const reasoning = fc.option(
  fc.oneof(
    fc.constant({ thinking: 'Hm.' }),
    fc
      .constantFrom(...signed)
      .map((own) => ({ thinking: 'Hm.', reasoning_details: [{ text: 'Hm.', provider_metadata: own }] })),
  ),
  { nil: {}, freq: 2 },
);

type Said = { kind: 'user' | 'answer'; content: Message['content']; more: object };
type Called = {
  kind: 'calls';
  content: string;
  more: object;
  calls: [id: string, name: string, raw: string | undefined, result: Message['content']][];
};

const user: fc.Arbitrary<Said> = fc.record({
  kind: fc.constant('user'),
  content: fc.oneof(words, parts),
  more: fc.constant({}),
});
const answer: fc.Arbitrary<Said> = fc.record({
  kind: fc.constant('answer'),
  content: fc.oneof(words, parts),
  more: reasoning,
});
const calls: fc.Arbitrary<Called> = fc.record({
  kind: fc.constant('calls'),
  content: words,
  more: reasoning,
  calls: fc.array(
    fc.tuple(
      fc.constantFrom(...oddIds),
      fc.constantFrom(...oddNames),
      fc.constantFrom(undefined, '{"n":', '[]', '"x"', 'null', ''),
      fc.oneof(
        words,
        fc.array(
          words.map((text) => ({ type: 'text', text })),
          { maxLength: 2 },
        ),
      ),
    ),
    { minLength: 1, maxLength: 4 },
  ),
});

/** Histories with closed tool groups, as the log has them, of whatever models and providers have written. */
export const oddHistories: fc.Arbitrary<Message[]> = fc
  .tuple(fc.boolean(), fc.array(fc.oneof(user, answer, calls), { maxLength: 8 }))
  .map(([prompted, turns]) => {
    let n = 0;
    const messages: Message[] = prompted ? [{ role: 'system', content: 'Help.' }] : [];
    for (const turn of turns) {
      if ('calls' in turn) {
        const made = turn.calls.map(([id, name, raw, result]) => {
          const call: ToolCall = {
            id,
            name,
            arguments: { n: n++ },
            ...(raw === undefined ? {} : { arguments_raw: raw }),
          };
          return { call, result };
        });
        messages.push({
          role: 'assistant',
          content: turn.content,
          ...turn.more,
          tool_calls: made.map(({ call }) => call),
        });
        for (const { call, result } of made)
          messages.push({ role: 'tool', tool_call_id: call.id, name: call.name, content: result });
      } else messages.push({ role: turn.kind === 'user' ? 'user' : 'assistant', content: turn.content, ...turn.more });
    }
    return [...messages, { role: 'user', content: 'Continue.' }];
  });
