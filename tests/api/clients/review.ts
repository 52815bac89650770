// A user of the generated TypeScript types: submits a review, waits for it, reads it, downloads it.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: process.argv[2] });
const submitted = await client.POST("/api/v1/reviews", { body: { application_ref: "25/01178/REM" } });
if (!submitted.data) throw new Error(JSON.stringify(submitted.error));
const path = { review_id: submitted.data.review_id };
console.log("submitted");
for (let i = 0; i < 300; i++) {
  const status = await client.GET("/api/v1/reviews/{review_id}/status", { params: { path } });
  if (status.data?.status === "completed") break;
  await new Promise((done) => setTimeout(done, 100));
}
const { data } = await client.GET("/api/v1/reviews/{review_id}", { params: { path } });
const download = await client.GET("/api/v1/reviews/{review_id}/download", {
  params: { path, query: { format: "pdf" } },
  parseAs: "arrayBuffer",
});
const events = await client.GET("/api/v1/events", {});
const pdf = new TextDecoder().decode(new Uint8Array(download.data as unknown as ArrayBuffer).slice(0, 5));
console.log(
  JSON.stringify({
    rating: data?.review?.overall_rating,
    aspects: data?.review?.aspects.map((aspect) => [aspect.name, aspect.rating]),
    model: data?.metadata?.model,
    pdf,
    events: events.data?.events.map((entry) => entry.body.event),
  }),
);
