import type { Lanefold } from 'lanefold';
import { called, mayFail } from './agents.ts';

/** A conversation with one planted fault. */
export interface Conversation {
  fault: string;
  /** The thread, whose name gives nothing away. */
  thread: string;
  /** What somebody who uses the product reports. */
  complaint: string;
  seed(talk: Talk): Promise<unknown>;
}

/** One conversation under way. */
interface Talk {
  lanefold: Lanefold;
  thread: string;
  /** Asks, and waits for the end of the run. */
  ask(input: string, agent?: string): Promise<void>;
}

export const conversations: Conversation[] = [
  {
    fault: 'wrong_argument',
    thread: 'exam-01',
    complaint: 'The customer was told that the parcel is lost. It is on its way.',
    seed: ({ ask }) => ask('Where is my parcel? The order is B-2041.'),
  },
  {
    fault: 'lost_steer',
    thread: 'exam-02',
    complaint: 'The letter mentions the strike, although I wrote into the run that it must not.',
    async seed({ lanefold, thread, ask }) {
      const run = await lanefold.runs.enqueue({
        agent: 'clerk',
        model: 'exam:lost_steer',
        threadId: thread,
        input: 'Write to the customer that the parcel is late.',
      });
      await called.promise;
      await lanefold.runs.steer(thread, 'Do not mention the strike.');
      mayFail.resolve();
      await lanefold.runs.wait(run);
      await ask('Something went wrong. Please write the letter.');
    },
  },
  {
    fault: 'prompt_change',
    thread: 'exam-03',
    complaint: 'From the second question on the answers are in German.',
    async seed({ lanefold, thread, ask }) {
      await ask('Good morning!');
      await lanefold.threads.configure(thread, { systemPrompt: 'You help customers of a shop. Answer in German.' });
      await ask('How long are you open?');
    },
  },
  {
    fault: 'cut_message',
    thread: 'exam-04',
    complaint: 'It recommended walnut cake to a customer who had mentioned an allergy to nuts.',
    async seed({ ask }) {
      await ask('I am allergic to nuts.', 'thrifty');
      await ask('What is good for lunch?', 'thrifty');
      await ask('And for dessert?', 'thrifty');
    },
  },
  {
    fault: 'cycle',
    thread: 'exam-05',
    complaint: 'The run made five model calls, and there is no answer.',
    seed: ({ ask }) => ask('Where is B-77?'),
  },
  {
    fault: 'stale_anchor',
    thread: 'exam-06',
    complaint: 'The parcel went to the old address, although the customer had given the new one.',
    async seed({ lanefold, thread, ask }) {
      await ask('Please send my order to Berlin.');
      const entries = [{ role: 'user' as const, content: 'Summary so far: the order goes to Berlin.' }];
      await ask('I have moved: send it to Bonn instead.');
      await lanefold.contexts.replace(thread, { entries });
      await ask('Has it been sent?');
    },
  },
  {
    fault: 'ignored_error',
    thread: 'exam-07',
    complaint: 'The customer was told that the money is back. It is not.',
    seed: ({ ask }) => ask('Please pay B-9 back.'),
  },
  {
    fault: 'wrong_lane',
    thread: 'exam-08',
    complaint: 'In the middle of the conversation it forgot who the customer is.',
    async seed({ lanefold, thread, ask }) {
      await ask('I am Ada, my order is B-5.');
      await lanefold.contexts.switch(thread, 'draft');
      await ask('When does my order arrive?');
    },
  },
  {
    fault: 'cut_answer',
    thread: 'exam-09',
    complaint: 'The answer stops in the middle of a sentence.',
    seed: ({ ask }) => ask('How do I return a parcel?'),
  },
  {
    fault: 'changed_request',
    thread: 'exam-10',
    complaint: 'It answered a question that the customer did not ask.',
    seed: ({ ask }) => ask('May I pay by card?', 'rewriter'),
  },
];

/** Holds all conversations, on a worker with the agents of the exam. */
export async function seedExam(lanefold: Lanefold): Promise<void> {
  for (const { fault, thread, complaint, seed } of conversations) {
    const ask = async (input: string, agent = 'clerk') => {
      const asked = { agent, model: `exam:${fault}`, threadId: thread, input };
      await lanefold.runs.wait(await lanefold.runs.enqueue(asked));
    };
    await lanefold.threads.create({ id: thread, metadata: { complaint } });
    await seed({ lanefold, thread, ask });
  }
}
