import { useSignal } from '@preact/signals';
import type { Json } from '../api/types.ts';

const shown = 6_000;
/** Preview of a long formatted value. */
const shownLines = 12;
const lineShown = 200;

/** Text with its line breaks; a long one is cut until the reader asks for the rest. */
export function Text({ text, mono = false }: { text: string; mono?: boolean }) {
  const all = useSignal(false);
  const long = text.length > shown;
  return (
    <div class={mono ? 'text mono' : 'text'}>
      {!long || all.value ? text : mono ? beginning(text) : text.slice(0, shown)}
      {long && (
        <button type="button" class="link" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  );
}

const beginning = (text: string): string => {
  const lines = text.slice(0, shownLines * lineShown).split('\n', shownLines);
  return lines.map((line) => (line.length > lineShown ? `${line.slice(0, lineShown)}…` : line)).join('\n');
};

/** Small values stay on one line, so that a list of calls can be read at a glance. */
const lineChars = 96;

export function pretty(value: Json): string {
  const line = JSON.stringify(value);
  return line.length <= lineChars ? line : JSON.stringify(value, null, 2);
}

export const JsonText = ({ value }: { value: Json | undefined }) => <Text mono text={pretty(value ?? null)} />;

const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Formats a text that is JSON, as tool results often are. */
export function laidOut(text: string): { text: string; mono: boolean } {
  if (!/^\s*[[{]/.test(text)) return { text, mono: false };
  // laid out, a long number would lose digits
  if (longNumber.test(text)) return { text, mono: true };
  try {
    return { text: pretty(JSON.parse(text) as Json), mono: true };
  } catch {
    return { text, mono: false };
  }
}
