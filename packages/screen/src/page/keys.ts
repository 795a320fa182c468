/** One key: its X11 keysym, and the code of its position on a keyboard, which QEMU prefers. */
export interface Key {
  readonly keysym: number
  readonly code: string | null
}

export interface Chord {
  readonly name: string
  readonly keys: readonly Key[]
}

const key = (keysym: number, code: string | null): Key => ({ keysym, code })
const ctrl = key(0xffe3, 'ControlLeft')
const alt = key(0xffe9, 'AltLeft')
const shift = key(0xffe1, 'ShiftLeft')
const FUNCTION_KEYS = 12

export const ctrlAltDel: Chord = {
  name: 'Ctrl-Alt-Del',
  keys: [ctrl, alt, key(0xffff, 'Delete')],
}

/** Keys that the browser or the local machine intercepts. */
export const chords: readonly Chord[] = [
  ctrlAltDel,
  { name: 'Esc', keys: [key(0xff1b, 'Escape')] },
  { name: 'Tab', keys: [key(0xff09, 'Tab')] },
  { name: 'Windows', keys: [key(0xffeb, 'MetaLeft')] },
  { name: 'Print', keys: [key(0xff61, 'PrintScreen')] },
  { name: 'Alt-Tab', keys: [alt, key(0xff09, 'Tab')] },
  { name: 'Alt-F4', keys: [alt, key(0xffc1, 'F4')] },
  ...Array.from({ length: FUNCTION_KEYS }, (_, at) => ({
    name: `Ctrl-Alt-F${at + 1}`,
    keys: [ctrl, alt, key(0xffbe + at, `F${at + 1}`)],
  })),
]

/** Press in order, release in reverse order. */
export function strokes({ keys }: Chord): readonly (readonly [Key, boolean])[] {
  return [
    ...keys.map((each) => [each, true] as const),
    ...keys.toReversed().map((each) => [each, false] as const),
  ]
}

/** On the keyboard layout that QEMU assumes, these need the shift key. */
const SHIFTED = /[A-Z~!@#$%^&*()_+{}|:"<>?]/

/** The chord that types one character, as a keyboard would. */
export function chordOf(character: string): Chord {
  const special = { '\n': key(0xff0d, 'Enter'), '\t': key(0xff09, 'Tab') }[character]
  if (special) return { name: character, keys: [special] }
  const point = character.codePointAt(0) ?? 0
  // Latin-1 has its own keysyms; all others are Unicode with a bit set (X11 protocol, appendix A).
  const each = key(point < 0x100 ? point : 0x1000000 + point, null)
  return { name: character, keys: SHIFTED.test(character) ? [shift, each] : [each] }
}
