// prettier-ignore
const complexWords = [
  'analyze', 'explain', 'compare', 'contrast', 'evaluate', 'synthesize', 'consider', 'multiple', 'complex', 'design',
  'strategy', 'trade-off', 'implement', 'optimize', 'architecture',
];
const requirements = /must|should|need to|have to|require/g;

/** How complex a question looks, 0 to 1: by its words, sentences, telling words, questions and requirements. */
export function complexityOf(question: string): number {
  const text = question.toLowerCase();
  const words = text.split(/\s/u).length;
  const sentences = text.match(/[.!?]+/g)?.length ?? 0;
  const telling = complexWords.filter((word) => text.includes(word)).length;
  const asked = (text.match(/\?/g)?.length ?? 0) + (text.match(requirements)?.length ?? 0);
  return Math.min(
    share(words, 100) * 0.3 + share(sentences, 5) * 0.2 + share(telling, 3) * 0.3 + share(asked, 5) * 0.2,
    1,
  );
}

const share = (count: number, most: number): number => Math.min(count / most, 1);
