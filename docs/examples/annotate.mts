// A frontend in a few lines: claims a package of a campaign of Spot The Bot, answers every item, submits.
//   npm install ./dist/spotthebot-types-VERSION.tgz openapi-fetch typescript && npx tsc --module nodenext annotate.mts
//   node annotate.mjs http://127.0.0.1:8103 KEY_OF_THE_ROLE_ANNOTATION CAMPAIGN_ID p-17
import createClient from "openapi-fetch";
import type { components, paths } from "spotthebot-types/annotation";

type Item = components["schemas"]["ItemOut"];
type Answer = components["schemas"]["AnswerIn"]["answer"];
declare const process: { argv: string[] };

const [, , address, key, campaign, annotator] = process.argv;
const annotation = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${key}` } });

const claimed = await annotation.POST("/v1/campaigns/{campaign_id}/assignments", {
  params: { path: { campaign_id: campaign } },
  body: { annotator },
});
if (claimed.error) throw new Error(claimed.error.detail); // 409: why there is no package
const { id, items } = claimed.data;

for (const item of items) {
  const labels = { A: "unsure", B: "unsure" };
  await save(item, { entity: labels }, 2); // locks the labels, and shows the next questions
  await save(item, { entity: labels, fluency: "tie", sensibleness: "tie", specificity: "tie" });
}
const submitted = await annotation.POST("/v1/assignments/{assignment_id}/submit", {
  params: { path: { assignment_id: id } },
});
if (submitted.error) throw new Error(submitted.error.detail);
console.log(`${items.length} items, completion code ${submitted.data.completion_code}`);

async function save({ position, turns }: Item, answer: Answer, show_step?: number): Promise<void> {
  console.log(`${position}: ${turns.length} turns`); // what a person reads
  const path = { assignment_id: id, position };
  const { error } = await annotation.PUT("/v1/assignments/{assignment_id}/items/{position}", {
    params: { path },
    body: { answer, show_step },
  });
  if (error) throw new Error(error.detail);
}
