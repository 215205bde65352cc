import type { JsonObject } from '../context/message.ts';
import type { StrategyDecision, RunFacts } from './machine.ts';
import { withCuts } from './turn/cut-answer.ts';
import {
  llmCompleted,
  assistantEntry,
  blankAnswer,
  type Answered,
  firstState,
  nextIteration,
  type TurnState,
} from './turn/events.ts';
import { askModel, continueWithInput, resumeTurn, onSharedEvent } from './turn/model-call.ts';

/**
 * One model call without tools. The result is the conclusion of its answer, or the whole answer if it has no conclusion. Input
 * that arrives during the call triggers another call, up to the iteration limit.
 */
const chain = (name: string, prompt: string) =>
  withCuts<TurnState>({
    name,
    prompt,
    tools: false,
    output: false,
    start: (run) => withoutTools(askModel(run, firstState(run))),
    resume: (run, state) => withoutTools(resumeTurn(run, state ?? firstState(run))),
    on: (run, state, event) =>
      event.type === 'model_answered'
        ? onModelAnswered(run, state, event)
        : withoutTools(onSharedEvent(name, run, state, event)),
    details(answer): JsonObject {
      const { steps, conclusion } = parseThought(answer);
      return { steps: steps.map((step) => ({ ...step })), conclusion, raw_response: answer };
    },
  });

function onModelAnswered(run: RunFacts, state: TurnState, event: Answered): StrategyDecision<TurnState> {
  const blank = blankAnswer(event.turn, event.whole);
  if (blank) return { state, command: { type: 'fail', error: blank } };
  const { turn, whole } = event;
  const { conclusion } = parseThought(whole ?? turn.text);
  const result = conclusion ?? whole;
  return {
    state,
    step: {
      // The model was offered no tools: a tool call in its answer would stay open, so it is not logged.
      entries: [assistantEntry(run, state, event, [])],
      events: [llmCompleted(run, state, event, 'final_answer')],
      finish: {
        status: 'completed',
        reason: 'success',
        finish_reason: turn.finishReason,
        result,
      },
      continue: continueWithInput(run, nextIteration(state)),
    },
    command: { type: 'finish' },
  };
}

const withoutTools = (decision: StrategyDecision<TurnState>): StrategyDecision<TurnState> =>
  decision.command.type === 'call_model' ? { ...decision, command: { ...decision.command, tools: false } } : decision;

const cotPrompt = `Think the question through step by step before you answer it.

Number your steps, one after another:
1. …
2. …

Check each step against the question. When you are done, write your conclusion on a separate line, after "Conclusion:".`;

/** Chain of Thought: the model numbers its steps and ends with a marked conclusion. */
export const cot = chain('cot', cotPrompt);

const codPrompt = `Think step by step, but write only a minimal draft of each step: five words at most.

Number the drafts. When you are done, write the final answer after "####".`;

/** Chain of Draft: like Chain of Thought, with steps of a few words and the answer after `####`. */
export const cod = chain('cod', codPrompt);

/** A chain of thought, read from the model's answer. */
interface ParsedThought {
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
