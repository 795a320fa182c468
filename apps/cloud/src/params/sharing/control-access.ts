import { Fault } from '@skerry/fault'
import { UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import { shareLevels, type ShareLevel } from '../../domain/shares.ts'
import type { NamedEntry } from '../../sharing/access-lists.ts'
import { childText, readBoolean } from '../child-text.ts'
import { checkName, readRoot } from '../named.ts'
import type { RequestDocument } from '../request-document.ts'

const SHAPE = 'ControlAccessParams'
const MOST = 100

const invalid = (message: string): Fault => new Fault('invalid', message)

function levelIn(root: Element, name: string): ShareLevel {
  const written = (childText(root, name) ?? '').trim()
  const level = shareLevels.find((each) => each === written)
  if (level) return level
  throw invalid(`${name} must be one of: ${shareLevels.join(', ')}`)
}

const uuidAtEnd = new RegExp(`${UUID}$`)

/** The href of a user names one user for ever; the name is for those who write it by hand. */
function userIn(subject: Element): NamedEntry['subject'] {
  const [name, href] = [attribute(subject, 'name'), attribute(subject, 'href')]
  if (href === undefined) return { type: 'user', name: checkName(name ?? '') }
  const id = uuidAtEnd.exec(href.toLowerCase())?.[0]
  if (id === undefined) throw invalid('href of Subject must be the address of a user')
  return { type: 'user', id, ...(name !== undefined && { name }) }
}

function subjectIn(setting: Element): NamedEntry['subject'] {
  const [subject, ...more] = childrenByLocalName(setting, 'Subject')
  if (!subject || more.length > 0) throw invalid('each AccessSetting must have one Subject')
  const type = attribute(subject, 'type')
  if (type === 'user') return userIn(subject)
  if (type !== 'group') throw invalid('type of Subject must be user or group')
  const provider = attribute(subject, 'provider') ?? ''
  if (provider === '') {
    throw invalid('Subject of a group must have a provider: the name of its identity server')
  }
  // The DN of a group is a name, too.
  const name = attribute(subject, 'name') ?? ''
  if (name === '') throw invalid('Subject of a group must have a name')
  return { type: 'group', name, provider }
}

function everyoneIn(root: Element): readonly NamedEntry[] {
  const isShared = readBoolean(root, 'IsSharedToEveryone')
  if (isShared === undefined) throw invalid('IsSharedToEveryone must be true or false')
  if (isShared) {
    return [{ subject: { type: 'everyone' }, level: levelIn(root, 'EveryoneAccessLevel') }]
  }
  if (childText(root, 'EveryoneAccessLevel') === undefined) return []
  throw invalid('EveryoneAccessLevel is only for IsSharedToEveryone true')
}

/** ControlAccessParams: with whom a vApp or a catalog is shared, the whole list. */
export const controlAccessParams: RequestDocument<readonly NamedEntry[]> = {
  media: 'controlAccess',
  shape: SHAPE,
  example: () =>
    element(
      SHAPE,
      {},
      element('IsSharedToEveryone', {}, 'false'),
      element(
        'AccessSettings',
        {},
        element(
          'AccessSetting',
          {},
          element('Subject', { type: 'user', name: 'alice' }),
          element('AccessLevel', {}, 'Change'),
        ),
      ),
    ),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const settings = childrenByLocalName(root, 'AccessSettings').flatMap((each) =>
      childrenByLocalName(each, 'AccessSetting'),
    )
    const everyone = everyoneIn(root)
    if (everyone.length + settings.length > MOST) {
      throw invalid(`a vApp or a catalog can be shared with at most ${MOST} users and groups`)
    }
    return [
      ...everyone,
      ...settings.map((each) => ({
        subject: subjectIn(each),
        level: levelIn(each, 'AccessLevel'),
      })),
    ]
  },
}
