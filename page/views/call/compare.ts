/** What compares calls. Only a reader who asks for a difference loads it. */
export { diffArrays, diffWordsWithSpace } from 'diff';
