/** The diff library, loaded only when a reader opens a diff. */
export { diffArrays, diffWordsWithSpace } from 'diff';
