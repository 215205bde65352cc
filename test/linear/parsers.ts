import { cleanText, isBlank, isBlankToProviders } from '../../src/checks/text.ts';
import { calculate } from '../../src/cli/assistant/calculator.ts';
import { inOneLine } from '../../src/cli/show-message.ts';
import { findUnfit, isDeeper, isExact, readJson } from '../../src/common/json.ts';
import { readJsonBytes } from '../../src/common/json-bytes.ts';
import { LineSplitter } from '../../src/common/line-splitter.ts';
import { retryAfterMs } from '../../src/common/retry-after.ts';
import { shorten } from '../../src/context/large-content.ts';
import { parseAnswer } from '../../src/contracts/parse-answer.ts';
import { toData } from '../../src/durable-streams/messages.ts';
import { parseCondition } from '../../src/evals/condition/parse.ts';
import { code, fence } from '../../src/evals/report/markdown-parts.ts';
import { element } from '../../src/evals/report/xml.ts';
import { normaliseText } from '../../src/evals/scorers/text.ts';
import { fromLines } from '../../src/history/json-lines.ts';
import { laneOf } from '../../src/langgraph/keys.ts';
import { Parts } from '../../src/langgraph/parts.ts';
import { oneLine, printable } from '../../src/log/printable.ts';
import { assertFewCalls } from '../../src/models/answer/bounds.ts';
import { exactTokens } from '../../src/models/counting/exact-tokens.ts';
import { sizeOf } from '../../src/models/counting/image-size.ts';
import { tooLong } from '../../src/models/errors/context-too-long.ts';
import { acceptContent } from '../../src/models/messages/accept-content.ts';
import { marked, unmarked } from '../../src/models/messages/marked-json.ts';
import { toParts } from '../../src/models/messages/parts.ts';
import { safeLines } from '../../src/models/registry/exact-fetch.ts';
import { readable } from '../../src/models/registry/readable-usage.ts';
import { parseScriptedId } from '../../src/models/scripted/id.ts';
import { acceptableName } from '../../src/models/sending/acceptable.ts';
import { rangesOf } from '../../src/mirror/addresses.ts';
import { parseLine } from '../../src/portable/line.ts';
import { maskSecrets } from '../../src/redaction/error-text.ts';
import { createKeyRedactor } from '../../src/redaction/sensitive-keys.ts';
import { hideUrlCredentials } from '../../src/redaction/url-credentials.ts';
import { jsonFault } from '../../src/replay/json-fault.ts';
import { parseRecording } from '../../src/replay/recording.ts';
import { fillIn, unknownPlaceholder } from '../../src/schedules/template.ts';
import { select } from '../../src/strategies/adaptive/adaptive.ts';
import { parseSearch } from '../../src/strategies/aot/parse.ts';
import { parseThought } from '../../src/strategies/chain/parse-thought.ts';
import { parseConnections, parseVote, parseWeights } from '../../src/strategies/got/parse.ts';
import { quote } from '../../src/strategies/inquiry/quote.ts';
import { parseScores, parseThoughts } from '../../src/strategies/tot/parse.ts';
import { parseSupervision } from '../../src/strategies/trm/parse.ts';
import { readEventToken } from '../../src/tokens/event-token.ts';
import { acceptableNames } from '../../src/tools/acceptable-names.ts';
import {
  all,
  askDemo,
  askModel,
  orRefuses,
  piecesOf,
  readEvents,
  readPage,
  readStream,
  type Parser,
} from './readers.ts';

const times = { slot: new Date(0), previous: new Date(0), timeZone: 'UTC' };
const known = new Set([1, 2]);
const redactor = createKeyRedactor();
const count = (await exactTokens('openai:gpt-5'))!;

/** By the module, from `src`. */
export const parsers: Record<string, Parser> = {
  'checks/text.ts': {
    read: all(isBlank, isBlankToProviders, cleanText),
    worst: [{ pump: ' ', after: 'x' }, '\u0000', '\ud800'],
  },
  'cli/assistant/calculator.ts': { read: orRefuses(calculate), worst: ['1', '1+', '1.', { pump: '1', after: 'x' }] },
  'cli/show-message.ts': { read: (text) => inOneLine(text, 80), worst: [' ', 'a ', { pump: '\n', after: 'x' }] },
  'client/sse.ts': { read: readEvents, worst: ['data: x\n', '\n', ':\n\n', 'x', { before: 'data:', pump: ' ' }] },
  'common/json.ts': {
    read: all(readJson, findUnfit, (text) => isDeeper(text, 200), isExact),
    worst: ['"', '\\', '\\"', '1', '1.', '[1e999,', '"1234567890123456789"', '{"a":', { before: '"', pump: '\\\\"' }],
  },
  'common/json-bytes.ts': {
    read: (text) => readJsonBytes(Buffer.from(text)),
    worst: ['"', '\\"', '{"a":', { before: '"', pump: '\\\\' }],
  },
  'common/line-splitter.ts': {
    read: (text) => {
      const lines = new LineSplitter();
      return piecesOf(text).map((piece) => lines.push(piece));
    },
    worst: ['x', '\n', 'x\n'],
  },
  'common/retry-after.ts': {
    read: (text) => retryAfterMs(() => text, 0),
    worst: ['1,', '1 ', { pump: '1', after: 'x' }, { pump: ' ', after: 'x' }, 'Mon, '],
  },
  'context/large-content.ts': { read: (text) => shorten(text, 10_000), worst: ['a', '\ud83d\ude00', '\ud800'] },
  'contracts/parse-answer.ts': {
    read: orRefuses(parseAnswer),
    worst: [
      '```',
      '```\n',
      'lines\n',
      { before: '```json', pump: '\t' },
      { before: '```\n', pump: '\r\n`', after: 'x' },
    ],
  },
  'durable-streams/messages.ts': {
    read: orRefuses((text) => toData(Buffer.from(text), 'application/json')),
    worst: [{ before: '[', pump: ' ', after: ']' }, { before: '["', pump: '\\\\', after: '"]' }, '['],
  },
  'evals/condition/tokens.ts': { read: orRefuses(parseCondition), worst: ['a.', '1', ' ', 'mean > 1 and ', '1e', '<'] },
  'evals/report/markdown-parts.ts': { read: all(code, fence), worst: ['`', '` ', '|', '\r'] },
  'evals/report/xml.ts': { read: (text) => element('a', { b: text }, text), worst: ['&', '<', '\u0000', '\r\n'] },
  'evals/scorers/text.ts': { read: normaliseText, worst: [' ', { before: 'x', pump: ' ', after: 'x' }, 'a '] },
  'history/json-lines.ts': { read: orRefuses(fromLines), worst: ['\n', '}', '{}\n'] },
  'durable-streams/sse.ts': { read: readPage, worst: ['\r', '\n', '\r\n', 'x', ' \n', '\u2028'] },
  'langgraph/keys.ts': { read: (text) => laneOf('langgraph', text), worst: ['|', 'a', '-'] },
  'langgraph/parts.ts': {
    read: (text) => {
      const parts = new Parts({ get: () => undefined });
      for (const piece of piecesOf(text)) parts.add(piece, `${parts.texts.length}`);
    },
    worst: ['1 ', 'a'],
  },
  'log/printable.ts': { read: all(printable, oneLine), worst: ['\r', '\r\n', '\u0007', '\n'] },
  'mirror/addresses.ts': { read: (text) => rangesOf(text, 0), worst: ['1 ', '1.1-1 ', '1-', '1'] },
  'models/answer/bounds.ts': { read: orRefuses(assertFewCalls), worst: ['"function"', '"function"\n', '\n', '"'] },
  'models/counting/exact-tokens.ts': {
    read: (text) => count({ role: 'user', content: text }),
    worst: ['a', `${'a'.repeat(199)} `, '\n', '\u{1f600}'],
  },
  'models/counting/image-size.ts': {
    read: (text) => sizeOf({ type: 'file', media_type: 'image/jpeg', url: `data:image/jpeg;base64,${text}` }),
    worst: [',', 'A', { before: '/9j/', pump: '4AAC/+AAAv/gAAL/' }, Buffer.from('<svg ').toString('base64')],
  },
  'models/errors/context-too-long.ts': {
    read: (text) => tooLong(413, text, text),
    worst: ['input token count', 'context length ', '1,', '(', 'limit: 1 '],
  },
  'models/messages/accept-content.ts': {
    read: orRefuses((text) => acceptContent([{ type: 'image_url', image_url: { url: text } }] as never)),
    worst: [
      { before: 'data:image/png;base64,', pump: 'A' },
      { before: 'data:', pump: ';' },
      { before: 'data:', pump: '=' },
    ],
  },
  'models/messages/marked-json.ts': {
    read: orRefuses(all(marked, unmarked)),
    worst: [
      '"\\u0000json ',
      '\\"\\u0000json \\',
      { before: '{"a":"', pump: '\\"\\u0000json \\\\', after: '"}' },
      '[',
      '"',
    ],
  },
  'models/messages/parts.ts': {
    read: orRefuses((text) => toParts([{ type: 'file', media_type: 'image/png', url: text }])),
    worst: [
      { before: 'data:', pump: ';base64' },
      { before: 'data:x;base64,', pump: '\n' },
    ],
  },
  'models/registry/whole-lines.ts': { read: readStream, worst: ['x', '\n', 'x\n'] },
  'models/registry/exact-fetch.ts': {
    read: safeLines,
    worst: ['"tool_use"\n', '"tool_use"', { before: '"tool_use"', pump: '\\"' }, { before: '"tool_use":', pump: '[' }],
  },
  'models/registry/readable-usage.ts': {
    read: readable,
    worst: [
      '"prompt_tokens"',
      { before: '"total_tokens"', pump: ' ' },
      { before: '"total_tokens":', pump: ' ' },
      '_tokens"',
    ],
  },
  'models/scripted/demo.ts': { read: askDemo, worst: ['(', '1 + ', 'A', 'in ', '#'] },
  'models/scripted/id.ts': { read: orRefuses(parseScriptedId), worst: ['?', '[', ']', '&'] },
  'models/scripted/model.ts': { read: askModel('scripted:echo'), worst: [' ', 'x', { pump: '\n', after: 'x' }] },
  'models/sending/acceptable.ts': { read: acceptableName, worst: ['-', '.', 'é'] },
  'portable/line.ts': {
    read: parseLine,
    worst: [
      ',"hash":"',
      { before: '{', pump: `,"hash":"${'0'.repeat(64)}"}`, after: 'x' },
      { before: '{}', pump: ' ', after: 'x' },
    ],
  },
  'redaction/error-text.ts': {
    read: maskSecrets,
    worst: ['sk-', 'npm_.', 'password', 'a', 'key_', 'Bearer ', '://', '?key=', { before: 'api_key', pump: ' ' }],
  },
  'redaction/sensitive-keys.ts': {
    read: (text) => redactor.text(text),
    worst: [
      'password',
      '"password"',
      'password=',
      'password="',
      "password='\n",
      'bearer ',
      '\\"token\\":',
      'a-',
      '{"a":',
    ],
  },
  'redaction/text-values.ts': {
    read: (text) => redactor.text(text),
    worst: ['token="\\', 'token=[', 'token=\\"', 'token="\n', 'token=bearer ', 'token=[REDACTED]'],
  },
  'redaction/url-credentials.ts': { read: (text) => hideUrlCredentials(text, '*'), worst: ['://', '://a:', '@', ':'] },
  'replay/json-fault.ts': {
    read: jsonFault,
    worst: ['"', '[', '1', ' ', { before: '[', pump: '"a",' }, { before: '"', pump: 'a' }],
  },
  'replay/recording.ts': {
    read: orRefuses((text) => parseRecording('some.json', text)),
    worst: ['\n', '[', { before: '[', pump: ' \n' }, { before: '"', pump: 'a' }, { before: '[{"traj":[', pump: '{},' }],
  },
  'schedules/template.ts': {
    read: all(unknownPlaceholder, (text) => fillIn(text, times)),
    worst: ['{{', '{', '{{date}}', { before: '{{', pump: '\t' }, { before: '{{', pump: ' a' }],
  },
  'strategies/adaptive/adaptive.ts': {
    read: (text) => select(text, { available: ['react'] } as never),
    worst: [' ', '.', '?', 'must'],
  },
  'strategies/aot/parse.ts': {
    read: parseSearch,
    worst: ['answer:\n', '\n', 'trying a ', '1.', { before: 'answer', pump: ' ' }, { before: '1.', pump: 'a' }],
  },
  'strategies/chain/parse-thought.ts': {
    read: parseThought,
    worst: ['####', '- ', '1. ', '\t', 'step ', 'final\t', { before: 'Answer:', pump: ' ' }],
  },
  'strategies/got/parse.ts': {
    read: all(
      (text) => parseConnections(text, known),
      (text) => parseVote(text, known),
      (text) => parseWeights(text, [1, 2]),
    ),
    worst: [
      'CONNECTION: [1]',
      'VOTE: ',
      'WEIGHT:',
      { before: 'CONNECTION:', pump: ' ' },
      { before: 'WEIGHT: [1]', pump: '\t' },
    ],
  },
  'strategies/inquiry/quote.ts': {
    read: (text) => quote('question', text),
    worst: ['<', '< ', '</', '<question', { before: '<', pump: ' ' }, { before: '<', pump: '\t/' }],
  },
  'strategies/tot/parse.ts': {
    read: all(parseThoughts, (text) => parseScores(text, ['a', 'b'])),
    worst: ['```json', '1. ', '\n', '{"thoughts":', { before: '1.', pump: ' ' }],
  },
  'strategies/trm/parse.ts': {
    read: parseSupervision,
    worst: [
      'score',
      '-',
      'A',
      'Issue: a\n',
      { before: 'Issue:', pump: '*', after: '\u2028x' },
      { before: '-', pump: '* ' },
    ],
  },
  'tokens/event-token.ts': { read: orRefuses((text) => readEventToken(text, ['s'], 0)), worst: ['.', 'a'] },
  'tools/acceptable-names.ts': { read: (text) => acceptableNames([text, `${text}x`]), worst: ['.', 'a', 'é'] },
};
