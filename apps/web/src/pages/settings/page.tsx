import { usePageTitle } from '../../app/page-title.ts'
import { Card, Facts } from '../../components/card.tsx'
import { Tiles } from '../../components/field.tsx'
import { density, setDensity, setTheme, theme } from '../../data/preferences.ts'
import { pageConfig, useSession } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { AccessTokens } from './access-tokens.tsx'
import { SecondFactors } from './second-factors.tsx'

import page from '../../styles/page.module.css'

export function SettingsPage() {
  usePageTitle({ text: 'Settings' })
  const { user, org, role, rights } = useSession()
  const { name, version } = useStore(pageConfig)
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <div className={page['columns']}>
        <div className={page['stack']}>
          <SecondFactors />
          <AccessTokens />
          <Card title="Appearance">
            <div className={page['fields']}>
              <Tiles
                legend="Theme"
                value={useStore(theme)}
                options={[
                  { value: 'system', text: 'System', more: 'like this computer' },
                  { value: 'light', text: 'Light', more: 'always' },
                  { value: 'dark', text: 'Dark', more: 'always' },
                ]}
                onChange={setTheme}
              />
              <Tiles
                legend="Rows"
                value={useStore(density)}
                options={[
                  { value: 'dense', text: 'Dense', more: 'more rows' },
                  { value: 'roomy', text: 'Roomy', more: 'larger text' },
                ]}
                onChange={setDensity}
              />
            </div>
          </Card>
        </div>
        <Card title="Account">
          <Facts
            rows={[
              ['User', `${user}@${org}`],
              role !== '' && ['Role', role],
              ['Rights', [...rights].join(', ')],
              ['Cloud', name],
              ['Version', version],
            ]}
          />
        </Card>
      </div>
    </div>
  )
}
