curl {{ bots_url }}/openai/v1/chat/completions -H "Authorization: Bearer $KEY" \
  -H "Content-Type: application/json" -d '{
  "model": "{{ model }}", "messages": [{"role": "user", "content": "Good morning!"}]}'