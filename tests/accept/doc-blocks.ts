/** The `sh` blocks of a document: what people type, in its order. One inside of a list stands as far to the right as its item. */
export const blocksIn = (text: string): readonly string[] =>
  [...text.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
