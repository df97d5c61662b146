curl -X POST {{ bots_url }}/v1/bots -H "Authorization: Bearer $KEY" \
  -H "Content-Type: application/json" -d '{
  "name": "my-bot", "domains": ["everyday"], "secret": "'"$SECRET"'",
  "protocol": {"kind": "webhook", "url": "https://bot.example.org/reply"}}'
