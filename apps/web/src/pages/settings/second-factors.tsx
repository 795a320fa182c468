import { useState } from 'react'

import { linkOf } from '../../api/documents.ts'
import {
  SECOND_FACTORS,
  type SecondFactorDocument,
  type SecondFactorsDocument,
} from '../../api/second-factor-documents.ts'
import { AddPasskeyDialog } from '../../app/second-factors/add-passkey-dialog.tsx'
import { AddSecondFactorDialog } from '../../app/second-factors/add-second-factor-dialog.tsx'
import { hasPasskeys } from '../../app/second-factors/passkeys.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { RemoveSecondFactorDialog } from './remove-second-factor-dialog.tsx'
import { ReplaceCodesDialog } from './replace-codes-dialog.tsx'
import { SecondFactorTable } from './second-factor-table.tsx'

import page from '../../styles/page.module.css'

/** Apps whose codes a login with a password needs, and passkeys, which log in without one. */
export function SecondFactors() {
  const { data } = useDocument<SecondFactorsDocument>(SECOND_FACTORS)
  const [opened, setOpened] = useState<'app' | 'passkey' | 'codes'>()
  const [removed, setRemoved] = useState<SecondFactorDocument>()
  const factors = data?.secondFactor ?? []
  const known = factors.filter(({ confirmed }) => confirmed)
  const close = (): void => setOpened(undefined)
  const cannotAdd = !data
    ? 'the list is being read'
    : linkOf(data, 'add') === undefined
      ? 'this session began with an API token'
      : undefined
  return (
    <Card
      title="Second factor"
      flush
      tools={
        <>
          {hasPasskeys() && (
            <Button small icon="key" unavailable={cannotAdd} onClick={() => setOpened('passkey')}>
              Add passkey
            </Button>
          )}
          <Button small icon="plus" unavailable={cannotAdd} onClick={() => setOpened('app')}>
            Add second factor
          </Button>
        </>
      }
    >
      <SecondFactorTable
        factors={factors}
        isRequired={data?.required ?? false}
        onRemove={setRemoved}
      />
      {known.length > 0 && (
        <div className={`${page['footer']} ${page['tools']}`}>
          <span className={page['rest']}>Recovery codes left: {data?.recoveryCodesLeft}</span>
          <Button
            small
            unavailable={
              linkOf(data, 'replaceRecoveryCodes') === undefined
                ? 'this session began with an API token'
                : undefined
            }
            onClick={() => setOpened('codes')}
          >
            New recovery codes
          </Button>
        </div>
      )}
      {opened === 'app' && <AddSecondFactorDialog known={known} onClose={close} />}
      {opened === 'passkey' && <AddPasskeyDialog known={known} onClose={close} />}
      {opened === 'codes' && (
        <ReplaceCodesDialog
          href={linkOf(data, 'replaceRecoveryCodes') ?? ''}
          known={known}
          onClose={close}
        />
      )}
      {removed && (
        <RemoveSecondFactorDialog
          factor={removed}
          known={known}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  )
}
