import { UriTemplate, type ResourceTemplateType } from '@modelcontextprotocol/server';

/** A kind of resource: its template, and the path of the HTTP API that reads it. */
interface Kind extends ResourceTemplateType {
  uriTemplate: string;
}

const json = { mimeType: 'application/json' };

export const templates = [
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}',
    name: 'thread',
    title: 'A thread',
    description: 'One conversation: its state, its active run, its tokens and cost.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/contexts/{context_ref}{?at_seq}',
    name: 'context',
    title: 'A context of a thread',
    description: 'The system prompt and the messages that a model sees next, or saw as of the entry at_seq.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/runs/{run_id}',
    name: 'run',
    title: 'A run',
    description: 'Status, result, usage and tool calls of a run.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/calls/{seq}',
    name: 'call',
    title: 'A model call',
    description:
      'What the model saw when it wrote the answer in the entry seq of the log, with the hash of its messages.',
  },
] as const satisfies Kind[];

export type ResourceName = (typeof templates)[number]['name'];

export const threadUri = (threadId: string): string => `lanefold://threads/${encodeURIComponent(threadId)}`;

/** The SDK takes no URI without the query of its template, so queries are read here. */
const parsers = templates.map(({ name, uriTemplate }) => {
  const [path = '', query = ''] = uriTemplate.split('{?');
  return { name, template: new UriTemplate(path), known: query.replace('}', '') };
});

/** What a URI names, with its variables decoded; undefined: nothing here. */
export function readUri(uri: string): { name: ResourceName; variables: Record<string, string> } | undefined {
  const [path = '', query] = uri.split('?');
  for (const { name, template, known } of parsers) {
    const match = template.match(path);
    if (!match) continue;
    const asked = [...new URLSearchParams(query)];
    if (asked.some(([key]) => key !== known)) return undefined;
    try {
      const texts = Object.entries(match).map(([key, value]) => [key, decodeURIComponent(String(value))]);
      return { name, variables: Object.fromEntries([...texts, ...asked]) as Record<string, string> };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
