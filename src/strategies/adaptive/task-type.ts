// prettier-ignore
const words: [type: string, anyOf: string[]][] = [
  ['iterative_reasoning', ['puzzle', 'iterate', 'improve', 'refine', 'recursive', 'riddle']],
  ['synthesis', [
    'synthesize', 'combine', 'merge', 'integrate', 'aggregate', 'unify', 'consolidate',
    'relationships', 'connections', 'network', 'graph', 'linked', 'interdependent', 'perspectives', 'viewpoints',
  ]],
  ['tool_use', ['search', 'find', 'lookup', 'fetch', 'get', 'calculate', 'compute', 'call', 'execute', 'run', 'use', 'tool']],
  ['exploration', [
    'analyze', 'explore', 'consider', 'multiple', 'options', 'alternatives', 'compare', 'contrast', 'evaluate',
  ]],
  ['simple_query', ['what', 'is', 'who', 'when', 'where', 'define', 'explain', 'tell', 'me']],
];

/** The kind of task a question looks like, by words that may be parts of others: "because" contains "use". First match wins. */
export function taskTypeOf(question: string): string {
  const text = question.toLowerCase();
  return words.find(([, anyOf]) => anyOf.some((word) => text.includes(word)))?.[0] ?? 'general';
}
