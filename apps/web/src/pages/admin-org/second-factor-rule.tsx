import { linkOf, type AdminOrgDocument } from '../../api/documents.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'

import page from '../../styles/page.module.css'

/** Whether the users of an organisation need a second factor. Administrators of the cloud change it. */
export function SecondFactorRule({ org }: { readonly org: AdminOrgDocument }) {
  const { name, href, secondFactorRequired: isRequired = false } = org
  const { makeChange, isPending } = useChange()
  const change = (next: boolean): void => {
    if (isPending) return
    makeChange({
      href,
      method: 'PUT',
      body: { secondFactorRequired: next },
      success: next ? `${name} requires a second factor` : `${name} requires no second factor`,
      failure: `${name} was not changed`,
    })
  }
  const next = isRequired ? 'no' : 'yes'
  return (
    <Card title="Second factor">
      <div className={page['stack']}>
        {linkOf(org, 'edit') === undefined ? (
          <p>
            {isRequired ? 'Users with a password need one.' : 'Users choose whether to have one.'}
          </p>
        ) : (
          <>
            <CheckField
              label="Users with a password need a second factor. Who has none may only add one."
              checked={isRequired}
              onChange={change}
            />
            <CommandLine
              text={`skerry org set ${shellQuoted(name)} --require-second-factor ${next}`}
            />
          </>
        )}
      </div>
    </Card>
  )
}
