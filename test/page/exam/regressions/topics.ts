/** What the model of the shop makes of a question. */
export interface Topic {
  /** What a tool for it is about; absent: it needs none. */
  words?: string[];
  /** The same, once the order is known. */
  afterOrder?: string[];
  complaint: boolean;
  /** What the question says, by the names that schemas may have for it. */
  facts(question: string): Record<string, unknown>;
  /** In English and in German. */
  answer(known: Known): [en: string, de: string];
}

interface Known {
  question: string;
  earlier: string;
  results: Record<string, Record<string, unknown>>;
  system: string;
  calculates: boolean;
}

const word = (question: string, pattern: RegExp): string | undefined => pattern.exec(question)?.[1];
const german: Record<string, string> = { helm: 'helmet', trikot: 'jersey', rahmen: 'frame', akku: 'battery' };
const inEnglish = (name: string | undefined): string | undefined => (name && german[name.toLowerCase()]) ?? name;
const days: Record<string, string> = {
  Friday: 'Freitag',
  Monday: 'Montag',
  Tuesday: 'Dienstag',
  Thursday: 'Donnerstag',
};
const none = (): Record<string, unknown> => ({});

const topics: [pattern: RegExp, topic: Topic][] = [
  [
    /send|return|zurück/i,
    {
      complaint: false,
      facts: none,
      answer: ({ system }) =>
        /within 30 days/.test(system)
          ? ['Yes, within 30 days of the delivery.', 'Ja, innerhalb von 30 Tagen nach der Lieferung.']
          : ['Yes, you can send it to us.', 'Ja, Sie können ihn uns schicken.'],
    },
  ],
  [
    /cost/i,
    {
      complaint: false,
      facts: none,
      answer({ question, calculates }) {
        const [, pieces, price, percent] = /(\d+) \w+ at ([\d.]+) € with (\d+) %/.exec(question)!.map(Number);
        const sum = pieces! * price! * (calculates ? 1 - percent! / 100 : 1);
        return [`${sum.toFixed(2)} €`, `${sum.toFixed(2)} €`];
      },
    },
  ],
  [
    /in stock|vorrätig/i,
    {
      words: ['stock', 'pieces'],
      complaint: false,
      facts: (question) => ({
        article: inEnglish(word(question, /(helmet|jersey|glove|Helm|Trikot)/)),
        size: word(question, / (S|M|L)\b/),
      }),
      answer({ results: { stock: found } }) {
        const pieces = Number(found?.['pieces'] ?? 0);
        return pieces > 0
          ? [`Yes, we have ${pieces} pieces.`, `Ja, wir haben ${pieces} Stück.`]
          : ['No, it is sold out.', 'Nein, das ist ausverkauft.'];
      },
    },
  ],
  [
    /warranty|Garantie/i,
    {
      words: ['warranty', 'part', 'question'],
      complaint: false,
      facts: (question) => ({ part: inEnglish(word(question, /(frame|battery|motor|fork|Rahmen|Akku)/)) }),
      answer: ({ results: { warranty } }) =>
        warranty
          ? [`${String(warranty['years'])} years.`, `${String(warranty['years'])} Jahre.`]
          : ['I found nothing about that.', 'Dazu habe ich nichts gefunden.'],
    },
  ],
  [
    /arrive|wann/i,
    {
      words: ['order'],
      afterOrder: ['day', 'arrives'],
      complaint: false,
      facts: (question) => ({ order: word(question, /(B-\d+)/) }),
      answer({ results: { parcel } }) {
        const day = String(parcel?.['arrives']);
        return [`It arrives on ${day}.`, `Es kommt am ${days[day] ?? day}.`];
      },
    },
  ],
  [
    /number\?|Nummer\?/,
    {
      complaint: false,
      facts: none,
      answer({ earlier }) {
        const number = word(earlier, /(F-\d+)/);
        return number
          ? [`It is ${number}.`, `Sie ist ${number}.`]
          : ['You have not told me.', 'Die haben Sie mir nicht genannt.'];
      },
    },
  ],
  [
    /broken|rude|wrong|kaputt/i,
    {
      complaint: true,
      facts: none,
      answer: () => ['A colleague will call you today.', 'Eine Kollegin ruft Sie heute an.'],
    },
  ],
];

const smallTalk: Topic = { complaint: false, facts: none, answer: () => ['Noted.', 'Notiert.'] };

export const topicOf = (question: string): Topic =>
  topics.find(([pattern]) => pattern.test(question))?.[1] ?? smallTalk;
