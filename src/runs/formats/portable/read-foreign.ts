import type { ForeignThread } from './convert.ts';
import type { CheckpointReader } from './langgraph.ts';

type ForeignSource =
  | { format: 'openai'; items: unknown }
  | { format: 'ai-sdk'; messages: unknown }
  | { format: 'langgraph'; checkpointer: CheckpointReader; threadId: string; channel?: string | undefined };

/** Reads a history with the reader of its format, which is loaded on demand; undefined for an unknown format. */
export async function readForeign(source: ForeignSource): Promise<ForeignThread | undefined> {
  switch (source.format) {
    case 'openai':
      return (await import('./openai.ts')).readOpenAi(source.items);
    case 'ai-sdk':
      return (await import('./ai-sdk.ts')).readAiSdk(source.messages);
    case 'langgraph':
      return (await import('./langgraph.ts')).readLangGraph(source.checkpointer, source);
    default:
      return undefined;
  }
}
