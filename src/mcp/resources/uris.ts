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

const parsers = templates.map(({ name, uriTemplate }) => ({ name, template: new UriTemplate(uriTemplate) }));

/** What a URI names, with its variables decoded; undefined: nothing here. */
export function readUri(uri: string): { name: ResourceName; variables: Record<string, string> } | undefined {
  for (const { name, template } of parsers) {
    const match = template.match(uri);
    if (!match) continue;
    try {
      const texts = Object.entries(match).map(([key, value]) => [key, decodeURIComponent(String(value))]);
      return { name, variables: Object.fromEntries(texts) as Record<string, string> };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
