import type { Expected } from 'lanefold/evals';

/** A question of the dataset, with what was said before it. */
export interface ExamCase {
  tag: string;
  split: 'english' | 'german';
  earlier?: string[];
  question: string;
  expected: Expected;
}

type Given = [question: string, contains: string, arguments_?: Record<string, string>];

const isGerman = (question: string): boolean => / (ich|der|die|das|ist|mein) /.test(question);

const about = (tag: string, given: Given[], more: (of: Given) => Partial<ExamCase> = () => ({})): ExamCase[] =>
  given.map((of) => {
    const [question, contains] = of;
    const { expected, ...rest } = more(of);
    const split = isGerman(question) ? 'german' : 'english';
    return { tag, split, question, expected: { contains: [contains], ...expected }, ...rest };
  });

/** That an answer came by way of a tool. */
const byTool =
  (name: string) =>
  ([, , args]: Given): Partial<ExamCase> => ({ expected: { tool: { name, arguments: args! } } });

const chatter = (number: string): string[] => [
  `The number of my frame is ${number}.`,
  'I ride to work every day.',
  'On weekends I ride in the hills.',
  'I have had the bike for three years.',
];

const rubric = 'Thanks the customer, and says sorry.';

export const examCases: ExamCase[] = [
  ...about('returns', [
    ['Can I send the helmet back?', '30 days'],
    ['May I return a jersey that I have worn?', '30 days'],
    ['How long may I return a lamp?', '30 days'],
    ['Kann ich den Helm zurück geben, wenn er nicht passt?', '30 Tagen'],
  ]),
  ...about(
    'prices',
    [
      ['What do 3 tubes at 7.50 € with 10 % off cost?', '20.25 €'],
      ['What do 2 lamps at 24.00 € with 25 % off cost?', '36.00 €'],
      ['What do 5 bells at 9.80 € with 20 % off cost?', '39.20 €'],
      ['What do 4 locks at 31.00 € with 5 % off cost?', '117.80 €'],
    ],
    ([, sum]) => ({ expected: { answer: JSON.stringify({ reply: sum, handoff: false }) } }),
  ).map(({ expected: { contains: _, ...expected }, ...rest }) => ({ ...rest, expected })),
  ...about(
    'stock',
    [
      ['Is the helmet in stock in size M?', '4 pieces', { article: 'helmet', size: 'M' }],
      ['Is the jersey in stock in size L?', '2 pieces', { article: 'jersey', size: 'L' }],
      ['Is the glove in stock in size M?', '9 pieces', { article: 'glove', size: 'M' }],
      ['Sagen Sie, ist der Helm in Größe L vorrätig?', '7 Stück', { article: 'helmet', size: 'L' }],
    ],
    byTool('stock'),
  ),
  ...about(
    'warranty',
    [
      ['How long is the warranty of the frame?', '10 years', { part: 'frame' }],
      ['How long is the warranty of the motor?', '3 years', { part: 'motor' }],
      ['Is there a warranty for the fork?', '5 years', { part: 'fork' }],
      ['Wie lange ist die Garantie für den Akku?', '2 Jahre', { part: 'battery' }],
    ],
    byTool('warranty'),
  ),
  ...about(
    'delivery',
    [
      ['When does order B-20 arrive?', 'Friday', { parcel: 'P-20' }],
      ['When will B-31 arrive?', 'Monday', { parcel: 'P-31' }],
      ['Does B-42 arrive this week?', 'Tuesday', { parcel: 'P-42' }],
      ['Sagen Sie mir, wann die Bestellung B-53 kommt?', 'Donnerstag', { parcel: 'P-53' }],
    ],
    byTool('parcel'),
  ),
  ...about(
    'memory',
    [
      ['What is my frame number?', 'F-118'],
      ['Please remind me of my number?', 'F-204'],
      ['Which was my frame number?', 'F-377'],
      ['Wie ist noch einmal meine Nummer?', 'Sie ist F-450'],
    ],
    ([, contains]) => ({ earlier: chatter(/F-\d+/.exec(contains)![0]) }),
  ),
  ...about(
    'complaints',
    [
      ['The lamp was broken when it came.', '"handoff":true'],
      ['The mechanic was rude to me.', '"handoff":true'],
      ['You sent me the wrong tyre.', '"handoff":true'],
      ['Die Klingel ist kaputt, und das ist ärgerlich.', 'Kollegin'],
    ],
    ([, contains]) => ({ expected: { contains: [...new Set(['"handoff":true', contains])], rubric } }),
  ),
];
