import { cleanText, isBlank, isBlankToProviders } from '../../src/base/checks/values.ts';
import { calculate } from '../../src/ops/cli/assistant.ts';
import { inOneLine } from '../../src/ops/cli/show-run.ts';
import { findUnfit, isDeeper, isExact, readJson } from '../../src/base/common/json.ts';
import { readJsonBytes } from '../../src/base/common/json-bytes.ts';
import { LineSplitter } from '../../src/ops/cli/read-file.ts';
import { retryAfterMs } from '../../src/base/common/network.ts';
import { fillPlaceholders, placeholdersIn, withoutPlaceholders } from '../../src/base/common/placeholders.ts';
import { shorten } from '../../src/agent/context/large-content.ts';
import { parseAnswer } from '../../src/agent/contracts/contract.ts';
import { toData } from '../../src/doors/durable-streams/protocol.ts';
import { parseCondition } from '../../src/features/evals/condition/parse.ts';
import { code, fence } from '../../src/features/evals/report/markdown.ts';
import { element } from '../../src/features/evals/report/junit.ts';
import { normaliseText } from '../../src/features/evals/scorers/built-in.ts';
import { fromLines } from '../../src/ops/history/event.ts';
import { laneOf, Parts } from '../../src/doors/langgraph/keys.ts';
import { oneLine, printable } from '../../src/base/log/logger.ts';
import { assertFewCalls, marked, unmarked } from '../../src/agent/models/provider-fetch.ts';
import { exactTokens } from '../../src/agent/models/counting.ts';
import { sizeOf } from '../../src/agent/models/file-tokens.ts';
import { tooLong } from '../../src/agent/models/model-error.ts';
import { acceptContent } from '../../src/agent/models/accept-content.ts';
import { toParts } from '../../src/agent/models/parts.ts';
import { safeLines, readable } from '../../src/agent/models/providers.ts';
import { parseScriptedId } from '../../src/agent/models/scripted/script.ts';
import { acceptableName } from '../../src/agent/models/acceptable-prompt.ts';
import { rangesOf } from '../../src/runs/formats/mirror/addresses.ts';
import { parseLine } from '../../src/runs/formats/portable/line.ts';
import { maskSecrets, createKeyRedactor, hideUrlCredentials } from '../../src/base/redaction/sensitive-keys.ts';
import { jsonFault, parseRecording } from '../../src/ops/replay/recording.ts';
import { fillIn, unknownPlaceholder } from '../../src/features/schedules/definition/template.ts';
import { select } from '../../src/agent/strategies/adaptive.ts';
import { parseSearch } from '../../src/agent/strategies/aot.ts';
import { parseThought } from '../../src/agent/strategies/chain.ts';
import { parseConnections, parseVote, parseWeights } from '../../src/agent/strategies/got.ts';
import { quote } from '../../src/agent/strategies/inquiry/conversation.ts';
import { parseScores, parseThoughts } from '../../src/agent/strategies/tot/tree.ts';
import { parseSupervision } from '../../src/agent/strategies/trm.ts';
import { readEventToken } from '../../src/base/tokens/token.ts';
import { acceptableNames } from '../../src/agent/tools/tool.ts';
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

/** By the module, from `src`; `#2` for a second reader in it. */
export const parsers: Record<string, Parser> = {
  'base/checks/values.ts': {
    read: all(isBlank, isBlankToProviders, cleanText),
    worst: [{ pump: ' ', after: 'x' }, '\u0000', '\ud800'],
  },
  'ops/cli/assistant.ts': {
    read: orRefuses(calculate),
    worst: ['1', '1+', '1.', { pump: '1', after: 'x' }],
  },
  'ops/cli/show-run.ts': { read: (text) => inOneLine(text, 80), worst: [' ', 'a ', { pump: '\n', after: 'x' }] },
  'doors/client/sse.ts': { read: readEvents, worst: ['data: x\n', '\n', ':\n\n', 'x', { before: 'data:', pump: ' ' }] },
  'base/common/json.ts': {
    read: all(readJson, findUnfit, (text) => isDeeper(text, 200), isExact),
    worst: ['"', '\\', '\\"', '1', '1.', '[1e999,', '"1234567890123456789"', '{"a":', { before: '"', pump: '\\\\"' }],
  },
  'base/common/json-bytes.ts': {
    read: (text) => readJsonBytes(Buffer.from(text)),
    worst: ['"', '\\"', '{"a":', { before: '"', pump: '\\\\' }],
  },
  'ops/cli/read-file.ts': {
    read: (text) => {
      const lines = new LineSplitter();
      return piecesOf(text).map((piece) => lines.push(piece));
    },
    worst: ['x', '\n', 'x\n'],
  },
  'base/common/placeholders.ts': {
    read: all(placeholdersIn, withoutPlaceholders, (text) => fillPlaceholders(text, () => 'x')),
    worst: ['{', '{{', '{{ ', '{{a', '{{a}', { before: '{{', pump: ' ' }, '}}'],
  },
  'base/common/network.ts': {
    read: (text) => retryAfterMs(() => text, 0),
    worst: ['1,', '1 ', { pump: '1', after: 'x' }, { pump: ' ', after: 'x' }, 'Mon, '],
  },
  'agent/context/large-content.ts': { read: (text) => shorten(text, 10_000), worst: ['a', '\ud83d\ude00', '\ud800'] },
  'agent/contracts/contract.ts': {
    read: orRefuses(parseAnswer),
    worst: [
      '```',
      '```\n',
      'lines\n',
      { before: '```json', pump: '\t' },
      { before: '```\n', pump: '\r\n`', after: 'x' },
    ],
  },
  'doors/durable-streams/protocol.ts': {
    read: orRefuses((text) => toData(Buffer.from(text), 'application/json')),
    worst: [{ before: '[', pump: ' ', after: ']' }, { before: '["', pump: '\\\\', after: '"]' }, '['],
  },
  'features/evals/condition/parse.ts': {
    read: orRefuses(parseCondition),
    worst: ['a.', '1', ' ', 'mean > 1 and ', '1e', '<'],
  },
  'features/evals/report/markdown.ts': { read: all(code, fence), worst: ['`', '` ', '|', '\r'] },
  'features/evals/report/junit.ts': {
    read: (text) => element('a', { b: text }, text),
    worst: ['&', '<', '\u0000', '\r\n'],
  },
  'features/evals/scorers/built-in.ts': {
    read: normaliseText,
    worst: [' ', { before: 'x', pump: ' ', after: 'x' }, 'a '],
  },
  'ops/history/event.ts': { read: orRefuses(fromLines), worst: ['\n', '}', '{}\n'] },
  'doors/durable-streams/read.ts': { read: readPage, worst: ['\r', '\n', '\r\n', 'x', ' \n', '\u2028'] },
  'doors/langgraph/keys.ts': { read: (text) => laneOf('langgraph', text), worst: ['|', 'a', '-'] },
  'doors/langgraph/keys.ts #2': {
    read: (text) => {
      const parts = new Parts({ get: () => undefined });
      for (const piece of piecesOf(text)) parts.add(piece, `${parts.texts.length}`);
    },
    worst: ['1 ', 'a'],
  },
  'base/log/logger.ts': { read: all(printable, oneLine), worst: ['\r', '\r\n', '\u0007', '\n'] },
  'runs/formats/mirror/addresses.ts': { read: (text) => rangesOf(text, 0), worst: ['1 ', '1.1-1 ', '1-', '1'] },
  'agent/models/provider-fetch.ts': {
    read: orRefuses(assertFewCalls),
    worst: ['"function"', '"function"\n', '\n', '"'],
  },
  'agent/models/counting.ts': {
    read: (text) => count({ role: 'user', content: text }),
    worst: ['a', `${'a'.repeat(199)} `, '\n', '\u{1f600}'],
  },
  'agent/models/file-tokens.ts': {
    read: (text) => sizeOf({ type: 'file', media_type: 'image/jpeg', url: `data:image/jpeg;base64,${text}` }),
    worst: [',', 'A', { before: '/9j/', pump: '4AAC/+AAAv/gAAL/' }, Buffer.from('<svg ').toString('base64')],
  },
  'agent/models/model-error.ts': {
    read: (text) => tooLong(413, text, text),
    worst: ['input token count', 'context length ', '1,', '(', 'limit: 1 '],
  },
  'agent/models/accept-content.ts': {
    read: orRefuses((text) => acceptContent([{ type: 'image_url', image_url: { url: text } }] as never)),
    worst: [
      { before: 'data:image/png;base64,', pump: 'A' },
      { before: 'data:', pump: ';' },
      { before: 'data:', pump: '=' },
    ],
  },
  'agent/models/provider-fetch.ts #2': {
    read: orRefuses(all(marked, unmarked)),
    worst: [
      '"\\u0000json ',
      '\\"\\u0000json \\',
      { before: '{"a":"', pump: '\\"\\u0000json \\\\', after: '"}' },
      '[',
      '"',
    ],
  },
  'agent/models/parts.ts': {
    read: orRefuses((text) => toParts([{ type: 'file', media_type: 'image/png', url: text }])),
    worst: [
      { before: 'data:', pump: ';base64' },
      { before: 'data:x;base64,', pump: '\n' },
    ],
  },
  'agent/models/provider-fetch.ts #3': { read: readStream, worst: ['x', '\n', 'x\n'] },
  'agent/models/providers.ts': {
    read: safeLines,
    worst: ['"tool_use"\n', '"tool_use"', { before: '"tool_use"', pump: '\\"' }, { before: '"tool_use":', pump: '[' }],
  },
  'agent/models/providers.ts #2': {
    read: readable,
    worst: [
      '"prompt_tokens"',
      { before: '"total_tokens"', pump: ' ' },
      { before: '"total_tokens":', pump: ' ' },
      '_tokens"',
    ],
  },
  'agent/models/scripted/demo.ts': { read: askDemo, worst: ['(', '1 + ', 'A', 'in ', '#'] },
  'agent/models/scripted/script.ts': { read: orRefuses(parseScriptedId), worst: ['?', '[', ']', '&'] },
  'agent/models/scripted/model.ts': { read: askModel('scripted:echo'), worst: [' ', 'x', { pump: '\n', after: 'x' }] },
  'agent/models/acceptable-prompt.ts': { read: acceptableName, worst: ['-', '.', 'é'] },
  'runs/formats/portable/line.ts': {
    read: parseLine,
    worst: [
      ',"hash":"',
      { before: '{', pump: `,"hash":"${'0'.repeat(64)}"}`, after: 'x' },
      { before: '{}', pump: ' ', after: 'x' },
    ],
  },
  'base/redaction/sensitive-keys.ts': {
    read: maskSecrets,
    worst: ['sk-', 'npm_.', 'password', 'a', 'key_', 'Bearer ', '://', '?key=', { before: 'api_key', pump: ' ' }],
  },
  'base/redaction/sensitive-keys.ts error text': {
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
  'base/redaction/sensitive-keys.ts #2': {
    read: (text) => redactor.text(text),
    worst: ['token="\\', 'token=[', 'token=\\"', 'token="\n', 'token=bearer ', 'token=[REDACTED]'],
  },
  'base/redaction/sensitive-keys.ts #3': {
    read: (text) => hideUrlCredentials(text, '*'),
    worst: ['://', '://a:', '@', ':'],
  },
  'ops/replay/recording.ts': {
    read: jsonFault,
    worst: ['"', '[', '1', ' ', { before: '[', pump: '"a",' }, { before: '"', pump: 'a' }],
  },
  'ops/replay/recording.ts #2': {
    read: orRefuses((text) => parseRecording('some.json', text)),
    worst: ['\n', '[', { before: '[', pump: ' \n' }, { before: '"', pump: 'a' }, { before: '[{"traj":[', pump: '{},' }],
  },
  'features/schedules/definition/template.ts': {
    read: all(unknownPlaceholder, (text) => fillIn(text, times)),
    worst: ['{{', '{', '{{date}}', { before: '{{', pump: '\t' }, { before: '{{', pump: ' a' }],
  },
  'agent/strategies/adaptive.ts': {
    read: (text) => select(text, { available: ['react'] } as never),
    worst: [' ', '.', '?', 'must'],
  },
  'agent/strategies/aot.ts': {
    read: parseSearch,
    worst: ['answer:\n', '\n', 'trying a ', '1.', { before: 'answer', pump: ' ' }, { before: '1.', pump: 'a' }],
  },
  'agent/strategies/chain.ts': {
    read: parseThought,
    worst: ['####', '- ', '1. ', '\t', 'step ', 'final\t', { before: 'Answer:', pump: ' ' }],
  },
  'agent/strategies/got.ts': {
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
  'agent/strategies/inquiry/conversation.ts': {
    read: (text) => quote('question', text),
    worst: ['<', '< ', '</', '<question', { before: '<', pump: ' ' }, { before: '<', pump: '\t/' }],
  },
  'agent/strategies/tot/tree.ts': {
    read: all(parseThoughts, (text) => parseScores(text, ['a', 'b'])),
    worst: ['```json', '1. ', '\n', '{"thoughts":', { before: '1.', pump: ' ' }],
  },
  'agent/strategies/trm.ts': {
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
  'base/tokens/token.ts': { read: orRefuses((text) => readEventToken(text, ['s'], 0)), worst: ['.', 'a'] },
  'agent/tools/tool.ts': { read: (text) => acceptableNames([text, `${text}x`]), worst: ['.', 'a', 'é'] },
};
