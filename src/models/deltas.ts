import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { cleanText } from '../text.ts';

/** A piece of an answer as it arrives: answer text, reasoning, or the raw arguments of a tool call. Always storable. */
export interface Delta {
  type: 'content' | 'thinking' | 'tool_call';
  text: string;
}

const deltaTypes = { 'text-delta': 'content', 'reasoning-delta': 'thinking', 'tool-input-delta': 'tool_call' } as const;

const endsInHalfPair = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
};

/** Hands stream parts on as deltas. A surrogate pair split over two parts is kept together. */
export function createDeltaSink(onDelta: (delta: Delta) => void): (part: LanguageModelV4StreamPart) => void {
  const held = { content: '', thinking: '', tool_call: '' };
  return (part) => {
    if (part.type !== 'text-delta' && part.type !== 'reasoning-delta' && part.type !== 'tool-input-delta') return;
    const type = deltaTypes[part.type];
    let text = held[type] + part.delta;
    held[type] = '';
    if (endsInHalfPair(text)) {
      held[type] = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text !== '') onDelta({ type, text: cleanText(text) });
  };
}
