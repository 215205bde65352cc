import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph';

/** Values that JSON has no form for, beside the messages; `MemorySaver` takes bytes only inside of something. */
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  bytes: Annotation<{ data: Uint8Array }>,
  seen: Annotation<Set<string>>({ reducer: (a, b) => new Set([...a, ...b]), default: () => new Set() }),
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const weather = (id: string, city: string) => ({ id, name: 'weather', args: { city } });

/** A model that answers by the last message: it calls tools twice, then asks a person, then answers. */
function model(messages: BaseMessage[]): AIMessage {
  const last = messages.at(-1)!;
  const tools = messages.filter((message) => ToolMessage.isInstance(message)).length;
  if (HumanMessage.isInstance(last) && String(last.content).startsWith('Weather'))
    return new AIMessage({ content: '', tool_calls: [weather(`a${tools}`, 'Bern'), weather(`b${tools}`, 'Rome')] });
  if (ToolMessage.isInstance(last) && tools % 3 === 2)
    return new AIMessage({ content: 'And Oslo.', tool_calls: [weather(`c${tools}`, 'Oslo')] });
  const words = String(last.content);
  return new AIMessage({
    content: `Answer ${messages.length} to ${words}`,
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  });
}

/** An agent with tools in a loop, a subgraph, parallel tasks, and a question to a person. */
export function assistant(checkpointer: BaseCheckpointSaver) {
  const research = new StateGraph(State)
    .addNode('dig', ({ messages }) => ({
      notes: [`dug ${messages.length}`],
      messages: [new AIMessage({ content: `Dug into ${messages.length}` })],
    }))
    .addNode('confirm', ({ messages }) => {
      const last = messages.findLast((message) => HumanMessage.isInstance(message));
      if (!String(last?.content).includes('confirm')) return { notes: ['sure'] };
      return { notes: [`told ${interrupt<string, string>('Is it so?')}`] };
    })
    .addEdge(START, 'dig')
    .addEdge('dig', 'confirm')
    .compile();
  return new StateGraph(State)
    .addNode('agent', ({ messages }) => ({
      messages: [model(messages)],
      bytes: { data: new Uint8Array([messages.length, 0, 255]) },
      seen: new Set([String(messages.length)]),
    }))
    .addNode('tools', ({ messages }) => {
      const { tool_calls: calls = [] } = messages.at(-1) as AIMessage;
      return {
        messages: calls.map(
          ({ id, name, args }) =>
            new ToolMessage({
              tool_call_id: id!,
              name,
              content: `Fair in ${(args as { city: string }).city}`,
              artifact: args,
            }),
        ),
      };
    })
    .addNode('each', ({ part }: { part: string }) => ({ notes: [part.toUpperCase()] }))
    .addNode('research', research)
    .addEdge(START, 'agent')
    .addConditionalEdges(
      'agent',
      ({ messages }) => {
        const answer = messages.at(-1) as AIMessage;
        if (answer.tool_calls?.length) return 'tools';
        const asked = String(messages.findLast((message) => HumanMessage.isInstance(message))?.content);
        if (asked.includes('research')) return 'research';
        if (asked.includes('parts')) return ['x', 'y', 'z'].map((part) => new Send('each', { part }));
        return END;
      },
      ['tools', 'research', 'each', END],
    )
    .addEdge('tools', 'agent')
    .compile({ checkpointer });
}

type Graph = ReturnType<typeof assistant>;

/** Everything that people do with a thread. Returns the threads it used. */
export async function converse(graph: Graph, name: string): Promise<string[]> {
  const config = { configurable: { thread_id: name } };
  const ask = (text: string, more: object = {}) =>
    graph.invoke({ messages: [new HumanMessage(text)] }, { ...config, ...more });
  await graph.invoke({ messages: [new SystemMessage('Be short.'), new HumanMessage('Weather, please')] }, config);
  await ask('Now the parts', { durability: 'sync' });
  await ask('Do research, and confirm it');
  await graph.invoke(new Command({ resume: 'yes' }), config);
  await ask('One exit', { durability: 'exit' });

  // a message changed by its id, one removed, and one added beside a node
  const { messages } = (await graph.getState(config)).values as { messages: BaseMessage[] };
  await graph.updateState(config, {
    messages: [new HumanMessage({ id: messages[1]!.id!, content: 'Weather at sea' })],
  });
  await graph.updateState(config, { messages: [new RemoveMessage({ id: messages.at(-1)!.id! })] }, 'agent');
  await ask('Weather, again');

  // back to the end of the second turn, and on from there
  const states = [];
  for await (const state of graph.getStateHistory(config)) states.push(state);
  const second = states.find(({ next, values }) => {
    const { messages: then } = values as { messages: BaseMessage[] };
    return next.length === 0 && String(then.findLast((m) => HumanMessage.isInstance(m))?.content) === 'Now the parts';
  })!;
  await graph.invoke({ messages: [new HumanMessage('Another way')] }, second.config);
  const forked = await graph.updateState(second.config, { notes: ['forked'] }, 'agent');
  await graph.invoke(null, forked);
  // a replay of a step in the middle of a tool loop
  const middle = states.find(({ next }) => next[0] === 'tools')!;
  await graph.invoke(null, middle.config);

  const failing = `${name}-2`;
  const other = { configurable: { thread_id: failing } };
  await graph.invoke({ messages: [new HumanMessage('research it, confirm')] }, other);
  await graph.invoke(new Command({ resume: 'no', update: { notes: ['by hand'] } }), other);
  return [name, failing];
}

/** The history of a thread with all its subgraphs, ids and times replaced by the order of their appearance. */
export async function historyOf(saver: BaseCheckpointSaver, graph: Graph, thread: string): Promise<unknown> {
  const config = { configurable: { thread_id: thread } };
  const tuples = [];
  for await (const tuple of saver.list(config)) tuples.push(tuple);
  const states = [];
  for await (const state of graph.getStateHistory(config)) states.push(state);
  const current = await graph.getState(config, { subgraphs: true });
  const oldestFirst = tuples.sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? -1 : 1));
  return anonymous({ tuples: oldestFirst, states: states.reverse(), current });
}

const idText = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;

/** Ids become their number; times go. */
export function anonymous(value: unknown): unknown {
  const numbers = new Map<string, string>();
  const rename = (text: string) =>
    text.replaceAll(idText, (id) => numbers.get(id) ?? numbers.set(id, `#${numbers.size}`).get(id)!);
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return rename(node);
    if (Array.isArray(node)) return node.map(walk);
    if (node instanceof Uint8Array) return { bytes: [...node] };
    if (node instanceof Set) return { set: [...node].map(walk) };
    if (node === null || typeof node !== 'object') return node;
    const plain =
      typeof (node as { toJSON?: unknown }).toJSON === 'function' ? (node as { toJSON(): object }).toJSON() : node;
    return Object.fromEntries(
      Object.entries(plain)
        .filter(([key, field]) => key !== 'ts' && key !== 'createdAt' && field !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, field]) => [rename(key), walk(field)]),
    );
  };
  return walk(value);
}
