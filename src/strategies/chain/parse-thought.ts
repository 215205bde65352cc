/** A chain of thought, read from the model's answer. */
export interface ParsedThought {
  steps: { number: number; content: string }[];
  conclusion: string | null;
}

// A single word may begin any sentence ("So far…"), so it needs a colon or dash; the phrases do not.
const marker =
  /^[ \t]*(?:(?:conclusion|answer|therefore|thus|hence|so)[ \t]*[:-]|(?:final[ \t]+answer|in[ \t]+conclusion)(?![\p{L}\p{N}_])[ \t]*[:,-]?)[ \t]*/iu;

const numbered = /^[ \t]*(?:step[ \t]+)?(\d+)[ \t]*[.:)](?=\s|$)/gimu;
const bullet = /^[ \t]*[-*•](?=\s)/gmu;

/**
 * The conclusion is the text after the first `####`; without one, the text after the first line that starts with a
 * marker such as "Answer:". The text before it holds the steps.
 */
export function parseThought(text: string): ParsedThought {
  const at = text.indexOf('####');
  const tail = at < 0 ? '' : text.slice(at + 4).trim();
  if (tail !== '') return { steps: stepsOf(text.slice(0, at)), conclusion: tail };
  const lines = text.split('\n');
  const first = lines.findIndex((line) => marker.test(line));
  if (first < 0) return { steps: stepsOf(text), conclusion: null };
  const conclusion = lines.slice(first).join('\n').replace(marker, '').trim();
  return { steps: stepsOf(lines.slice(0, first).join('\n')), conclusion: conclusion || null };
}

function stepsOf(text: string): ParsedThought['steps'] {
  const marks = [...text.matchAll(numbered)];
  if (marks.length > 0) {
    return marks
      .map((mark, i) => ({
        number: Number(mark[1]),
        content: text.slice(mark.index + mark[0].length, marks[i + 1]?.index).trim(),
      }))
      .filter((step) => step.content !== '');
  }
  if (text.search(bullet) < 0) return [];
  return text
    .split(bullet)
    .map((content) => content.trim())
    .filter((content) => content !== '')
    .map((content, i) => ({ number: i + 1, content }));
}
