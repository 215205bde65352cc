import type { HistoryEvent } from './event.ts';
import { parseJson } from '../../base/common/json.ts';

export const toLine = (event: HistoryEvent): string => `${JSON.stringify(event)}\n`;

/** The events of a file. The last line of a killed process may be incomplete and is left out. */
export const fromLines = (text: string): HistoryEvent[] =>
  text.split('\n').flatMap((line) => (line.endsWith('}') ? parsed(line) : []));

function parsed(line: string): HistoryEvent[] {
  try {
    return [parseJson(line) as HistoryEvent];
  } catch {
    return [];
  }
}
