/** What a numbered line of a tutorial asks the reader to do or to see, in a browser. */
export type WebStep =
  | { readonly kind: 'open'; readonly address: string }
  | { readonly kind: 'enter'; readonly text: string; readonly field: string }
  | { readonly kind: 'press'; readonly key: string }
  | { readonly kind: 'click'; readonly role: WebRole; readonly name: string }
  | { readonly kind: 'see'; readonly role: WebRole | 'field' | 'text'; readonly name: string }

/** The word of the tutorial and the role that a browser gives to such an element. */
export const webRoles = {
  button: 'button',
  link: 'link',
  tab: 'tab',
  'menu item': 'menuitem',
  heading: 'heading',
} as const
export type WebRole = keyof typeof webRoles

const roleWords = Object.keys(webRoles).join('|')
const sentences: readonly (readonly [RegExp, (first: string, second: string) => WebStep])[] = [
  [/^Open `(.+)`$/, (address) => ({ kind: 'open', address })],
  [/^Enter `(.+)` in the field \*\*(.+)\*\*$/, (text, field) => ({ kind: 'enter', text, field })],
  [/^Press `(.+)`$/, (key) => ({ kind: 'press', key })],
  [
    new RegExp(String.raw`^Click the (${roleWords}) \*\*(.+)\*\*$`),
    (role, name) => ({ kind: 'click', role: role as WebRole, name }),
  ],
  [
    new RegExp(String.raw`^You see the (${roleWords}|field|text) \*\*(.+)\*\*$`),
    (role, name) => ({ kind: 'see', role: role as WebRole, name }),
  ],
]

/** The steps of the numbered lines, in order. A sentence of another form is an error, so that every line is executed. */
export function webStepsIn(page: string): readonly WebStep[] {
  return [...page.matchAll(/^\d+\. (.+)$/gm)].flatMap(([, line = '']) => {
    if (!line.endsWith('.')) throw new Error(`this line does not end with a sentence: ${line}`)
    return line
      .slice(0, -1)
      .split(/\. (?=[A-Z])/)
      .map(readSentence)
  })
}

function readSentence(sentence: string): WebStep {
  for (const [form, step] of sentences) {
    const [whole, first = '', second = ''] = form.exec(sentence) ?? []
    if (whole !== undefined) return step(first, second)
  }
  throw new Error(`no test can follow this sentence: ${sentence}`)
}
