import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { fakeModel, type FakeModel, type FakeTurn } from '../../../support/fake-model.ts';
import { topicOf, type Topic } from './topics.ts';

/** What a call sent, as far as this model reads it. */
interface Seen {
  system: string;
  /** All that the user said, the question last. */
  said: string[];
  /** Results of the tools called since the question, by name. */
  results: Record<string, Record<string, unknown>>;
  tools: LanguageModelV4FunctionTool[];
}

/**
 * A model of the shop that knows nothing but what it is sent: it follows the instructions it sees, chooses among the tools by
 * their descriptions, fills in the fields of their schemas, and remembers only the messages of the call.
 *
 * @param calculates whether it can do sums
 */
export const shopModel = (calculates: boolean): FakeModel =>
  fakeModel((call) => {
    const seen = readCall(call);
    const question = seen.said.at(-1)!;
    const topic = topicOf(question);
    const turn = toolTurn(seen, question, topic) ?? { text: reply(seen, question, topic, calculates) };
    const thinking = call.reasoning === 'high' ? 'Let me go through this once more, step by step. '.repeat(14) : '';
    const written = thinking + JSON.stringify(turn);
    return {
      ...turn,
      ...(thinking && { thinking }),
      usage: [tokens(JSON.stringify(call.prompt)), tokens(written)],
    };
  });

const tokens = (text: string): number => Math.ceil(text.length / 4);

function readCall({ prompt, tools = [] }: LanguageModelV4CallOptions): Seen {
  const said = prompt.flatMap((message) =>
    message.role === 'user' ? [message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')] : [],
  );
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'));
  const parts = since.flatMap((message) => (message.role === 'tool' ? message.content : []));
  const results = parts.flatMap((part) =>
    part.type === 'tool-result' ? [[part.toolName, valueOf(part.output)] as const] : [],
  );
  return {
    system: prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n'),
    said,
    results: Object.fromEntries(results),
    tools: tools.filter((tool) => tool.type === 'function'),
  };
}

function valueOf(output: { type: string; value?: unknown }): Record<string, unknown> {
  const value = typeof output.value === 'string' ? (JSON.parse(output.value) as unknown) : output.value;
  return value as Record<string, unknown>;
}

/** The tool call that the question needs next; undefined if it needs none, or has all results. */
function toolTurn({ tools, results }: Seen, question: string, topic: Topic): FakeTurn | undefined {
  const words = results['order'] ? topic.afterOrder : topic.words;
  const tool = words && chosen(tools, words);
  if (!tool || results[tool.name]) return undefined;
  const known: Record<string, unknown> = { ...topic.facts(question), ...results['order'] };
  const asked = Object.keys(tool.inputSchema.properties ?? {});
  return { calls: [{ name: tool.name, args: Object.fromEntries(asked.map((name) => [name, known[name]])) }] };
}

/** The tool whose description has most of the words; of equal ones, the first. */
function chosen(tools: LanguageModelV4FunctionTool[], words: string[]): LanguageModelV4FunctionTool | undefined {
  const hits = ({ description = '' }: LanguageModelV4FunctionTool) =>
    words.filter((word) => description.toLowerCase().includes(word)).length;
  const best = tools.reduce<LanguageModelV4FunctionTool | undefined>(
    (found, tool) => (found && hits(found) >= hits(tool) ? found : tool),
    undefined,
  );
  return best && hits(best) > 0 ? best : undefined;
}

/** The answer, in the form that the instructions ask for. */
function reply(seen: Seen, question: string, topic: Topic, calculates: boolean): string {
  const { system, said, results } = seen;
  const german = /language of the customer/.test(system) && / (ich|der|die|das|ist|mein) /i.test(` ${question} `);
  const [en, de] = topic.answer({ question, earlier: said.slice(0, -1).join('\n'), results, system, calculates });
  const warm = topic.complaint && /thank the customer/i.test(system);
  const [thanks, sorry] = german
    ? ['Danke für Ihre Nachricht.', 'Das tut uns leid.']
    : ['Thank you for telling us.', 'We are sorry.'];
  const text = [...(warm ? [thanks, sorry] : []), german ? de : en].join(' ');
  const required = /"required": (\[[^\]]*\])/.exec(system)?.[1];
  if (required === undefined) return text;
  const fields: Record<string, unknown> = { reply: text, handoff: topic.complaint };
  return JSON.stringify(Object.fromEntries((JSON.parse(required) as string[]).map((name) => [name, fields[name]])));
}

/** A judge that reads the rubric and the answer that it was sent. */
export const judgeModel = (): FakeModel =>
  fakeModel(({ prompt }) => {
    const asked = prompt.findLast(({ role }) => role === 'user')!.content as { type: string; text: string }[];
    const text = asked.map((part) => part.text).join('');
    const data = JSON.parse(text.slice(text.indexOf('\n{\n'), text.lastIndexOf('\n}\n') + 2)) as { answer: string };
    const { answer } = data;
    const thanks = /thank you|danke/i.test(answer);
    const sorry = /sorry|tut uns leid/i.test(answer);
    const missing = [...(thanks ? [] : ['does not thank the customer']), ...(sorry ? [] : ['does not say sorry'])];
    const reason = missing.length === 0 ? 'It thanks the customer and says sorry.' : `It ${missing.join(' and ')}.`;
    return { text: JSON.stringify({ reason, score: (2 - missing.length) / 2 }) };
  });
