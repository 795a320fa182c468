import { element, readXml, renderElement, type Element } from '@skerry/xml'

/** The places of the VM's files on the target host. */
export interface NewPlaces {
  readonly incarnation: string
  readonly disk: string
  readonly seed: string
  readonly serial: string
}

const DUMP_BYTES_MAX = 4 * 1024 * 1024

/**
 * A running domain's XML with the paths of another host. It is modified rather than built from
 * scratch: the guest's view of its devices must stay as it was at start.
 */
export function movedXml(xml: string, places: NewPlaces): string {
  return renderElement(moveElement(readXml(xml, { bytesMax: DUMP_BYTES_MAX }), places))
}

function moveElement(at: Element, places: NewPlaces): Element {
  if (at.name === 'disk') return moveDisk(at, places)
  if (at.name === 'log') return element('log', { ...at.attributes, file: places.serial })
  if (at.name === 'skerry:vm') {
    return element('skerry:vm', { ...at.attributes, incarnation: places.incarnation })
  }
  return element(
    at.name,
    { ...at.attributes },
    ...at.children.map((each) => moveChild(each, places)),
  )
}

const moveChild = (child: Element | string, places: NewPlaces): Element | string =>
  typeof child === 'string' ? child : moveElement(child, places)

/** The writable disk arrives as one layer; the other disk is the seed. */
function moveDisk(disk: Element, { disk: top, seed }: NewPlaces): Element {
  const readOnly = disk.children.some(
    (part) => typeof part !== 'string' && part.name === 'readonly',
  )
  const children = disk.children.map((part) => {
    if (typeof part === 'string') return part
    if (part.name === 'source') return element('source', { file: readOnly ? seed : top })
    return part.name === 'backingStore' ? element('backingStore', {}) : part
  })
  return element('disk', { ...disk.attributes }, ...children)
}
